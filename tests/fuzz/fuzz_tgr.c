/* Any file is read to its end. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/recording/schema.h"
#include "tests/fuzz/frames.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_all(const char *path, const struct tgr_schema *schema,
                     size_t size)
{
    struct tgr_reader *r;
    struct err err = {0};
    const void *rows;
    size_t n;

    if (tgr_open(&r, path, schema, &err))
        return;
    while (tgr_next(r, &rows, &n, &err) > 0) {
        if (n == 0 || n > TGR_MAX_ROWS)
            abort();
    }
    if (err.code != ERR_NONE ||
        tgr_damage(r).skipped_bytes + tgr_damage(r).cut_off_bytes > size)
        abort();
    tgr_close(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    struct buf file;
    char path[32];

    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    make_file(&file, data, size);
    if (fd < 0 || file_write_all(fd, buf_text(&file), file.len))
        abort();
    read_all(path, &schema_truth, file.len);
    buf_fini(&file);
    close(fd);
    return 0;
}
