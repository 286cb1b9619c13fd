/* Any file is read to its end.  So that the checksums do not keep everything
 * out, an input that starts with 'f' is a list of frames without them: kind,
 * rows, length (a byte each), payload. */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/file.h"
#include "common/recording/schema.h"
#include "common/recording/tgr_impl.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void add_frame(struct buf *file, const uint8_t *head,
                      const uint8_t *payload, size_t len)
{
    char h[FRAME_HEADER] = {0};

    put_u32(h, FRAME_MAGIC);
    put_u16(h + 4, head[0]);
    put_u32(h + 8, head[1] == 255 ? TGR_MAX_ROWS : head[1]);
    put_u32(h + 12, (uint32_t)len);
    put_u32(h + 16, frame_crc(h, (const char *)payload, len));
    buf_add(file, h, sizeof(h));
    buf_add(file, payload, len);
}

static void make_file(struct buf *file, const uint8_t *data, size_t size)
{
    buf_init(file, (size_t)1 << 24);
    if (size == 0 || data[0] != 'f') {
        buf_add(file, data, size);
        return;
    }
    buf_add(file, FILE_MAGIC "\1\0\0\0\0\0\0\0", FILE_HEADER);
    for (size_t at = 1; at + 3 <= size;) {
        size_t len = data[at + 2];

        if (len > size - at - 3)
            len = size - at - 3;
        add_frame(file, data + at, data + at + 3, len);
        at += 3 + len;
    }
}

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
