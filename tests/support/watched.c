#include "tests/support/watched.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "tests/support/httpget.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"

#define MAX_TEXT ((size_t)8 << 20)

char *watched_url(struct proc *p)
{
    static const char says[] = "listening  http://";
    char *line;

    do
        line = proc_read_error(p);
    while (line && strncmp(line, says, strlen(says)) != 0);
    assert_non_null(line);
    return keepf("http://127.0.0.1%s",
                 strrchr(line, ':')); /* with the port, and a slash */
}

char *watched_get(const char *url, const char *path, const char *headers,
                  int status)
{
    struct http_reply r = HTTP_ASK(url, .path = path, .headers = headers);
    char *body;

    assert_int_equal(r.status, status);
    assert_int_equal(r.end, HTTP_WHOLE);
    body = keepf("%s", buf_text(&r.body));
    http_reply_fini(&r);
    return body;
}

char *watched_text(const char *path)
{
    struct err err = {0};
    char *text = NULL;

    assert_int_equal(file_read_text(path, MAX_TEXT, &text, &err), 0);
    return keep(text);
}
