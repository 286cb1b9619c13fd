/* Whatever rows a recording holds, they are summed up and reported, and the
 * counts add up.  The input is frames.h's, after a schema that fits if it
 * starts with 'f'. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "analyzer/read/reader.h"
#include "analyzer/report/report.h"
#include "analyzer/tally/summary.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/recording/manifest.h"
#include "common/recording/schema.h"
#include "tests/fuzz/frames.h"

#define MAX_REPORT ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char dir[] = "/tmp/tailgate-fuzz-XXXXXX";
static char table[sizeof(dir) + 16];
static char manifest[sizeof(dir) + 16];
static struct buf bare; /* a table with its schema and no rows */

static void clean_up(void)
{
    unlink(table);
    unlink(manifest);
    rmdir(dir);
    buf_fini(&bare);
}

static void must(int failed)
{
    if (failed)
        abort();
}

static void write_manifest(void)
{
    const struct run_start start = {0};
    struct manifest m = {0};
    struct settings s;
    struct err err = {0};

    settings_init(&s);
    must(settings_assign(&s, "target.url=null://", &err));
    must(settings_assign(&s, "load.rate=100", &err));
    must(settings_assign(&s, "load.warmup=1ms", &err));
    must(settings_assign(&s, "slo=e2e p99 < 1ms", &err));
    strlist_add(&s.slo, "lag p50 < 1ms");
    strlist_add(&s.slo, "connect p90 < 1ms");
    strlist_add(&s.slo, "good >= 90%");
    strlist_add(&s.slo, "gold: ttft p50 < 1ms");
    strlist_add(&s.slo, "gold: tpot p50 < 1ms");
    must(settings_resolve(&s, &err));
    manifest_init(&m, &s, &start); /* without an end: the rows decide */
    must(manifest_save(&m, dir, &err));
    manifest_fini(&m);
    settings_fini(&s);
}

static void set_up(void)
{
    struct tgr_writer *w;
    struct err err = {0};

    must(!mkdtemp(dir));
    snprintf(table, sizeof(table), "%s/requests.tgr", dir);
    snprintf(manifest, sizeof(manifest), "%s/manifest.json", dir);
    atexit(clean_up);
    write_manifest();
    must(tgr_create(&w, table, &schema_requests, &err));
    must(tgr_finish(w, &err));
    buf_init(&bare, MAX_REPORT);
    must(file_read(table, &bare, &err));
}

static void write_table(const uint8_t *data, size_t size)
{
    int fd = open(table, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    struct buf file;
    size_t skip = 0;

    must(fd < 0);
    make_file(&file, data, size);
    if (size > 0 && data[0] == 'f') {
        must(file_write_all(fd, bare.data, bare.len));
        skip = FILE_HEADER;
    }
    must(file_write_all(fd, buf_text(&file) + skip, file.len - skip));
    buf_fini(&file);
    close(fd);
}

static void sum_up(struct recording *rec)
{
    struct summary s;
    struct err err = {0};
    struct buf out;

    must(summary_make(&s, rec, NULL, &err));
    must(s.scheduled != s.issued + s.unsent);
    must(s.issued != s.ok + s.failed);
    buf_init(&out, MAX_REPORT);
    report_text.render(&s, &out);
    report_json.render(&s, &out);
    buf_fini(&out);
    summary_fini(&s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct recording rec;
    struct err err = {0};

    if (!bare.data)
        set_up();
    write_table(data, size);
    if (recording_open(&rec, dir, &err) == 0) {
        sum_up(&rec);
        recording_close(&rec);
    }
    return 0;
}
