#include "loadgen/record/answers.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/xalloc.h"
#include "common/text/jscan.h"
#include "loadgen/api/api.h"
#include "loadgen/engine/request.h"
#include "loadgen/prepare/secret.h"
#include "loadgen/schedule/session.h"

int answers_open(struct answers *a, const char *dir, const struct targets *ts,
                 const struct target_settings *s, struct err *err)
{
    char *path = xasprintf("%s/answers.jsonl", dir);
    int rc = 0;

    *a = (struct answers){0};
    secrets_find(ts, s, &a->secrets);
    a->fd =
        open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
    if (a->fd < 0)
        rc = err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    free(path);
    return rc;
}

int answers_close(struct answers *a, struct err *err)
{
    int failed = atomic_load(&a->failed);

    if (a->fd >= 0 && close(a->fd) && failed == 0)
        failed = errno;
    a->fd = -1;
    strlist_fini(&a->secrets);
    return failed ? err_set(err, ERR_IO, "answers.jsonl: %s", strerror(failed))
                  : 0;
}

/* Bytes that are not UTF-8 are replaced. */
static void put_text(const char *text, size_t len, struct buf *line)
{
    size_t start = line->len;
    struct jscan s;

    buf_adds(line, "\"");
    jtext_encode(text, len, line);
    buf_adds(line, "\"");
    jscan_init(&s, line->data + start, line->len - start);
    if (jscan_skip(&s) && jscan_end(&s))
        return;
    for (size_t i = start; i < line->len; i++) {
        if ((unsigned char)line->data[i] >= 0x80)
            line->data[i] = '?';
    }
}

/* An answer without text, such as tensors, is kept as a whole. */
void answers_add(struct answers *a, const struct api *api,
                 const struct request *r, struct buf *line)
{
    const struct facts *f = &r->facts;
    const struct sample sample =
        sample_draw(&api->sampler, request_key(f), &r->row);
    const struct buf *text =
        r->response.text.len > 0 ? &r->response.text : &r->response.body;

    buf_reset(line);
    buf_addf(line, "{\"index\":%lld,\"seq\":%lld,\"outcome\":\"%s\",",
             (long long)sample.index, (long long)f->seq,
             outcome_name((enum outcome)f->outcome));
    buf_addf(line, "\"passed\":%s,\"text\":",
             f->check == CHECK_PASSED   ? "true"
             : f->check == CHECK_FAILED ? "false"
                                        : "null");
    if (f->outcome == OUTCOME_OK)
        put_text(buf_text(text), text->len, line);
    else
        buf_adds(line, "null");
    buf_adds(line, "}\n");
    secrets_cross_out(&a->secrets, line->data, line->len - 1);
    if (file_write_all(a->fd, line->data, line->len)) {
        int none = 0;

        atomic_compare_exchange_strong(&a->failed, &none, errno);
    }
}
