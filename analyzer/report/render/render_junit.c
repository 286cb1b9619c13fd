/* A document as JUnit XML, which Jenkins, GitLab and others show as tests: the
 * verdict, each SLO term and each trust check is a test case.  A case fails if
 * a limit is missed, and is an error if that cannot be said.  Some case fails
 * or is an error exactly if the exit status is not 0. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/report/doc.h"
#include "common/base/buf.h"
#include "common/base/str.h"

#define MAX_TEXT  ((size_t)64 << 10)
#define MAX_SUITE ((size_t)16 << 20)

enum result { RESULT_PASSED, RESULT_SKIPPED, RESULT_FAILED, RESULT_ERROR };

/* A suite while its cases are collected. */
struct suite {
    const char *name;
    const char *document; /* name of the whole */
    const char *started;  /* "2026-12-31T23:59:59"; NULL: not known */
    double time_s;
    struct buf cases;
    int count[RESULT_ERROR + 1];
};

/* ---- texts ---- */

/* U+FFFE and U+FFFF, which XML forbids, in UTF-8. */
static bool is_nonchar(const char *p)
{
    return (unsigned char)p[0] == 0xEF && (unsigned char)p[1] == 0xBF &&
           ((unsigned char)p[2] == 0xBE || (unsigned char)p[2] == 0xBF);
}

/* Control characters, which XML 1.0 forbids as well, become '?'. */
static void put_text(struct buf *out, const char *text)
{
    struct buf safe;

    buf_init(&safe, MAX_TEXT);
    printable_add(text, &safe);
    for (const char *p = buf_text(&safe); *p; p++) {
        if (strchr("&<>\"'", *p)) {
            buf_addf(out, "&#%d;", *p);
        } else if (is_nonchar(p)) {
            buf_adds(out, "?");
            p += 2;
        } else {
            buf_addf(out, "%c", *p);
        }
    }
    buf_fini(&safe);
}

static void put_attribute(struct buf *out, const char *name, const char *text)
{
    buf_addf(out, " %s=\"", name);
    put_text(out, text);
    buf_adds(out, "\"");
}

static const char *text_at(const struct doc_node *in, const char *key)
{
    const struct doc_node *n = doc_at(in, key);

    return n && n->type == DOC_VALUE && n->text && !n->is_missing ? n->text
                                                                  : "";
}

static bool is_true_at(const struct doc_node *in, const char *key)
{
    const struct doc_node *n = doc_at(in, key);

    return n && n->kind == DOC_BOOL && !n->is_missing && n->count != 0;
}

/* Said by the name of a case and by its result. */
static bool is_said(const struct doc_node *n, const char *name)
{
    return n->key &&
           (strcmp(n->key, name) == 0 || strcmp(n->key, "verdict") == 0 ||
            strcmp(n->key, "fatal") == 0);
}

/* "measured 312ms, allowed 1%": what else people see of a row. */
static void describe(const struct doc_node *row, const char *name,
                     struct buf *out)
{
    for (const struct doc_node *n = row->first; n; n = n->next) {
        if (n->type == DOC_SECTION && n->label && !n->label[0])
            describe(n, name, out);
        if (n->type != DOC_VALUE || !n->label || !doc_has_words(n) ||
            n->kind == DOC_PLOT || is_said(n, name) || (n->text && !n->text[0]))
            continue;
        buf_addf(out, "%s%s%s", out->len > 0 ? ", " : "", n->label,
                 n->label[0] ? " " : "");
        doc_show_value(n, out);
    }
}

/* ---- cases ---- */

static void add_case(struct suite *s, const char *name, enum result result,
                     const char *type, const char *message)
{
    static const char *const elements[] = {
        [RESULT_SKIPPED] = "skipped",
        [RESULT_FAILED] = "failure",
        [RESULT_ERROR] = "error",
    };
    struct buf *out = &s->cases;

    s->count[result]++;
    buf_adds(out, "    <testcase");
    put_attribute(out, "classname", s->name);
    put_attribute(out, "name", name);
    buf_addf(out, " time=\"%.3f\">", s->time_s);
    if (result != RESULT_PASSED) {
        buf_addf(out, "\n      <%s", elements[result]);
        if (result != RESULT_SKIPPED)
            put_attribute(out, "type", type);
        put_attribute(out, "message", message);
        buf_adds(out, "/>");
    } else if (message[0]) {
        buf_adds(out, "\n      <system-out>");
        put_text(out, message);
        buf_adds(out, "</system-out>");
    }
    buf_addf(out, "%s</testcase>\n",
             result != RESULT_PASSED || message[0] ? "\n    " : "");
}

/* A row by the word of its verdict. */
static enum result result_of(const char *verdict)
{
    static const struct {
        const char *word;
        enum result result;
    } words[] = {
        {"pass", RESULT_PASSED},
        {"fail", RESULT_FAILED},
        {"worse", RESULT_FAILED},
        {"better", RESULT_PASSED},
        {"no difference shown", RESULT_PASSED},
        {"none", RESULT_SKIPPED},
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (strcmp(verdict, words[i].word) == 0)
            return words[i].result;
    }
    return RESULT_ERROR; /* undecided, cannot tell, missing */
}

static void add_row(struct suite *s, const struct doc_node *row,
                    const char *prefix, const char *name_key,
                    enum result result)
{
    const char *type = text_at(row, "verdict");
    struct buf name;
    struct buf message;

    buf_init(&name, MAX_TEXT);
    buf_init(&message, MAX_TEXT);
    buf_addf(&name, "%s%s", prefix, prefix[0] ? ": " : "");
    if (doc_at(row, name_key))
        doc_show_value(doc_at(row, name_key), &name);
    if (result == RESULT_ERROR && !type[0]) {
        type = "not passed";
    } else if (result == RESULT_ERROR && result_of(type) != RESULT_ERROR) {
        type = "invalid"; /* whatever its verdict is */
        buf_adds(&message, "the run is invalid");
    }
    describe(row, name_key, &message);
    add_case(s, buf_text(&name), result, type, buf_text(&message));
    buf_fini(&message);
    buf_fini(&name);
}

/* ---- suites ---- */

static void begin(struct suite *s, const struct suite *like, const char *name)
{
    *s = *like;
    s->name = name;
    memset(s->count, 0, sizeof(s->count));
    buf_init(&s->cases, MAX_SUITE);
}

/* Append it if it has a case, and add its counts to `all`. */
static void end(struct suite *s, struct suite *all)
{
    int n = 0;

    for (int i = 0; i <= RESULT_ERROR; i++) {
        n += s->count[i];
        all->count[i] += s->count[i];
    }
    if (n > 0) {
        struct buf *out = &all->cases;

        buf_adds(out, "  <testsuite");
        put_attribute(out, "name", s->name);
        put_attribute(out, "package", s->document);
        buf_addf(out,
                 " tests=\"%d\" failures=\"%d\" errors=\"%d\" skipped=\"%d\" "
                 "time=\"%.3f\"",
                 n, s->count[RESULT_FAILED], s->count[RESULT_ERROR],
                 s->count[RESULT_SKIPPED], s->time_s);
        if (s->started)
            put_attribute(out, "timestamp", s->started);
        buf_addf(out, ">\n%s  </testsuite>\n", buf_text(&s->cases));
    }
    buf_fini(&s->cases);
}

/* The exit status of the whole. */
static void put_verdict(struct suite *all, const struct doc *d)
{
    static const enum result results[] = {
        [CONCLUSION_YES] = RESULT_PASSED,
        [CONCLUSION_UNDECIDED] = RESULT_ERROR,
        [CONCLUSION_NO] = RESULT_FAILED,
        [CONCLUSION_INVALID] = RESULT_ERROR,
        [CONCLUSION_FAILED] = RESULT_ERROR,
    };
    static const char *const keys[] = {"verdict", "outcome", "answer"};
    const struct doc_node *root = doc_root(d);
    const struct doc_node *n = NULL;
    enum result result = results[doc_conclusion(d)];
    struct buf message;
    struct suite s;

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]) &&
                       !(n && n->type == DOC_VALUE && !n->is_missing);
         i++)
        n = doc_at(root, keys[i]);
    buf_init(&message, MAX_TEXT);
    if (n && n->type == DOC_VALUE && !n->is_missing)
        doc_show_value(n, &message);
    if (is_true_at(root, "interrupted")) {
        result = RESULT_ERROR;
        buf_addf(&message, "%sinterrupted", message.len > 0 ? "; " : "");
    }
    begin(&s, all, "verdict");
    add_case(&s, "verdict", result,
             n && n->type == DOC_VALUE && n->text ? n->text : "verdict",
             buf_text(&message));
    end(&s, all);
    buf_fini(&message);
}

/* Terms of the run, and of its classes, as far as they count.  If the numbers
 * cannot be trusted, neither can what they say about a term. */
static void put_terms(struct suite *all, const struct doc_node *root)
{
    const struct doc_node *table = doc_at(root, "slo");
    const struct doc_node *classes = doc_at(root, "classes");
    bool is_invalid = strcmp(text_at(root, "verdict"), "invalid") == 0;
    const struct doc_node *class = classes ? classes->first : NULL;
    const char *prefix = "";
    struct suite s;

    begin(&s, all, "slo");
    while (table) {
        for (const struct doc_node *row = table->first;
             table->type == DOC_TABLE && row; row = row->next) {
            const char *of = text_at(row, "class");

            add_row(&s, row, of[0] ? of : prefix, "term",
                    is_invalid ? RESULT_ERROR
                               : result_of(text_at(row, "verdict")));
        }
        while (class && class->is_text_only)
            class = class->next;
        table = class ? doc_at(class, "slo") : NULL;
        prefix = class ? text_at(class, "name") : "";
        class = class ? class->next : NULL;
    }
    end(&s, all);
}

/* A check that did not pass is an error, unless the verdict holds in spite of
 * it. */
static void put_checks(struct suite *all, const struct doc *d)
{
    const struct doc_node *table = doc_at(doc_root(d), "trust.checks");
    bool is_trusted = doc_conclusion(d) == CONCLUSION_YES;
    struct suite s;

    begin(&s, all, "trust");
    for (const struct doc_node *row = table ? table->first : NULL; row;
         row = row->next) {
        bool is_ok = is_true_at(row, "ok");
        bool is_fatal = is_true_at(row, "fatal");

        add_row(&s, row, "", "name",
                is_ok                     ? RESULT_PASSED
                : is_fatal && !is_trusted ? RESULT_ERROR
                                          : RESULT_SKIPPED);
    }
    end(&s, all);
}

/* Trials that do not count; the verdict says whether enough do. */
static void put_trials(struct suite *all, const struct doc_node *root)
{
    const struct doc_node *table = doc_at(root, "each");
    bool is_invalid = strcmp(text_at(root, "verdict"), "invalid") == 0;
    struct suite s;

    begin(&s, all, "trials");
    for (const struct doc_node *row = table ? table->first : NULL; row;
         row = row->next) {
        if (!row->is_text_only)
            add_row(&s, row, "trial", "trial",
                    is_true_at(row, "counted") ? RESULT_PASSED
                    : is_invalid               ? RESULT_ERROR
                                               : RESULT_SKIPPED);
    }
    end(&s, all);
}

/* A sweep goes beyond what the server can do: a load that misses the SLO is no
 * failure of the sweep. */
static void put_sweep(struct suite *all, const struct doc_node *root)
{
    const struct doc_node *table = doc_at(root, "values");
    struct suite s;

    if (strcmp(text_at(root, "kind"), "sweep") != 0)
        return;
    begin(&s, all, "sweep");
    for (const struct doc_node *row = table ? table->first : NULL; row;
         row = row->next) {
        enum result result = result_of(text_at(row, "verdict"));

        if (text_at(row, "verdict")[0] && result != RESULT_PASSED)
            result = RESULT_SKIPPED;
        add_row(&s, row, text_at(root, "key"), "value", result);
    }
    end(&s, all);
}

static void put_findings(struct suite *all, const struct doc *d)
{
    const struct doc_node *table = doc_at(doc_root(d), "findings");
    bool is_tolerated = doc_conclusion(d) == CONCLUSION_YES;
    struct suite s;

    begin(&s, all, "compare");
    for (const struct doc_node *row = table ? table->first : NULL; row;
         row = row->next) {
        enum result result = result_of(text_at(row, "verdict"));

        if (row->is_text_only || !is_true_at(row, "asked"))
            continue;
        if (is_tolerated && result != RESULT_PASSED)
            result = RESULT_SKIPPED;
        add_row(&s, row, "", "quantity", result);
    }
    end(&s, all);
}

static void put_ratios(struct suite *all, const struct doc_node *root)
{
    const struct doc_node *rows = doc_at(root, "ratios");
    struct suite s;

    begin(&s, all, "baseline");
    for (const struct doc_node *row = rows ? rows->first : NULL; row;
         row = row->next) {
        if (row->type == DOC_SECTION)
            add_row(&s, row, row->label ? row->label : "", "", RESULT_PASSED);
    }
    end(&s, all);
}

void doc_render_junit(const struct doc *d, const char *name, struct buf *out)
{
    const struct doc_node *root = doc_root(d);
    const struct doc_node *length = doc_at(root, "window.length_s");
    char started[sizeof("2026-12-31T23:59:59")] = "";
    struct suite all = {.document = name};
    int n = 0;

    buf_init(&all.cases, MAX_SUITE);
    if (length && !length->is_missing)
        all.time_s = fmax(0, length->number);
    snprintf(started, sizeof(started), "%s", text_at(root, "started"));
    all.started = started[0] ? started : NULL;
    put_verdict(&all, d);
    put_terms(&all, root);
    put_checks(&all, d);
    put_trials(&all, root);
    put_sweep(&all, root);
    put_findings(&all, d);
    put_ratios(&all, root);
    for (int i = 0; i <= RESULT_ERROR; i++)
        n += all.count[i];
    buf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites");
    put_attribute(out, "name", name);
    buf_addf(out,
             " tests=\"%d\" failures=\"%d\" errors=\"%d\">\n%s"
             "</testsuites>\n",
             n, all.count[RESULT_FAILED], all.count[RESULT_ERROR],
             buf_text(&all.cases));
    buf_fini(&all.cases);
}
