#include "analyzer/studies/baseline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"

const char *const baseline_quantity_name[BASELINE_QUANTITIES] = {
    "time_s", "peak_memory_bytes", "throughput_rps", "quality"};

void baseline_fini(struct baseline *b)
{
    for (size_t i = 0; i < b->n_files; i++)
        free(b->files[i].path);
    free(b->files);
    free(b->answers);
    free(b->name);
    free(b->frozen);
    free(b->version);
    free(b->chosen);
    strmap_fini(&b->conditions);
    *b = (struct baseline){0};
}

void baseline_add_file(struct baseline *b, const char *path,
                       const char sha256[static SHA256_TEXT])
{
    struct baseline_file *f;

    b->files = xrealloc(b->files, b->n_files + 1, sizeof(*b->files));
    f = &b->files[b->n_files++];
    f->path = xstrdup(path);
    snprintf(f->sha256, sizeof(f->sha256), "%s", sha256);
}

size_t baseline_check_files(const struct baseline *b, struct buf *out)
{
    size_t bad = 0;

    for (size_t i = 0; i < b->n_files; i++) {
        const struct baseline_file *f = &b->files[i];
        char now[SHA256_TEXT];
        struct err err = {0};

        if (sha256_file(f->path, now, &err)) {
            buf_addf(out, "%s\n", err.msg);
            bad++;
        } else if (strcmp(now, f->sha256) != 0) {
            buf_addf(out, "%s: altered since it was sealed\n", f->path);
            bad++;
        }
    }
    return bad;
}
