#include "tests/support/golden.h"
#include "tests/support/keep.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyzer/report/doc.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/xalloc.h"

#define MAX_REPORT ((size_t)4 << 20)

static void print_first_difference(const char *want, const char *got)
{
    size_t line = 1;

    while (*want && *want == *got) {
        line += *want == '\n';
        want++;
        got++;
    }
    print_error("line %zu: '%.*s' instead of '%.*s'\n", line,
                (int)strcspn(got, "\n"), got, (int)strcspn(want, "\n"), want);
}

void assert_golden(const char *name, const char *text)
{
    const char *source = getenv("TAILGATE_SOURCE");
    const char *mode = getenv("TAILGATE_GOLDEN");
    char *dir = keepf("%s/tests/golden", source ? source : ".");
    char *path = keepf("%s/%s", dir, name);
    struct err err = {0};
    struct buf want;
    int rc;

    buf_init(&want, MAX_REPORT);
    if (mode && strcmp(mode, "write") == 0) {
        buf_adds(&want, text);
        rc = file_replace_in(dir, name, &want, &err);
    } else {
        rc = file_read(path, &want, &err);
    }
    if (rc)
        print_error("%s\n", err.msg);
    assert_int_equal(rc, 0);
    if (strcmp(buf_text(&want), text) != 0) {
        print_error("%s differs (TAILGATE_GOLDEN=write accepts it):\n", path);
        print_first_difference(buf_text(&want), text);
        fail();
    }
    buf_fini(&want);
}

static char *rendered(const struct doc *d, enum doc_format format)
{
    struct buf out;
    char *text;

    buf_init(&out, MAX_REPORT);
    doc_render(d, format, &out);
    assert_false(out.overflowed);
    text = xstrdup(buf_text(&out));
    buf_fini(&out);
    return text;
}

void assert_golden_doc(const char *name, struct doc *taken)
{
    static const struct {
        enum doc_format format;
        const char *ending;
    } both[] = {{DOC_AS_TEXT, "txt"}, {DOC_AS_JSON, "json"}};

    for (size_t i = 0; i < sizeof(both) / sizeof(both[0]); i++) {
        char *text = rendered(taken, both[i].format);
        char *file = keepf("%s.%s", name, both[i].ending);

        assert_golden(file, text);
        free(text);
    }
    if (doc_has_brief(taken)) {
        char *text = rendered(taken, DOC_AS_BRIEF);

        assert_golden(keepf("%s.brief.txt", name), text);
        free(text);
    }
    doc_free(taken);
}

char *doc_text_of(struct doc *taken)
{
    char *text = rendered(taken, DOC_AS_TEXT);

    doc_free(taken);
    return text;
}

char *doc_brief_of(struct doc *taken)
{
    char *text = rendered(taken, DOC_AS_BRIEF);

    doc_free(taken);
    return text;
}

struct json_t *doc_json_of(struct doc *taken)
{
    json_t *json = doc_to_json(taken);

    doc_free(taken);
    return json;
}

struct doc *doc_of_part(void (*add)(struct doc_node *root,
                                    const struct summary *s),
                        const struct summary *s)
{
    struct doc *d = doc_new();

    add(doc_root(d), s);
    return d;
}
