/* The short form of a run: what ran, what came of it, whether that can be
 * trusted, and the verdict. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/report/brief.h"
#include "analyzer/report/doc.h"
#include "analyzer/report/run_doc.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "common/spec/slo.h"

#define MAX_KINDS    4 /* of errors in a line */
#define MAX_BAD      4 /* terms that come before other lines */
#define MANY         6 /* classes or tiers */
#define MAX_OUTCOMES 32
#define OF_THE_SLO   3 /* highest rank of a latency that the SLO asks for */

/* Of a term: a limit for good requests, met and shown, met, ... */
enum badness { LIMIT, SHOWN, PASSED, UNDECIDED, FAILED };

static bool is_zero(const struct doc_node *n)
{
    return !n || n->count == 0;
}

static bool is_true(const struct doc_node *n)
{
    return n && !n->is_missing && n->count != 0;
}

/* ---- counts and rates ---- */

/* "591 due (59.1/s)" */
static void add_count(struct brief *b, const char *before,
                      const struct doc_node *count, const char *name,
                      const struct doc_node *rate)
{
    brief_value(b, before, count, name);
    brief_value(b, " (", rate, ")");
}

/* Without an SLO every request that ended ok is good. */
static void add_requests(struct brief *b, const struct doc_node *root,
                         bool has_slo)
{
    const struct doc_node *n = doc_at(root, "requests");

    brief_line(b, 1, "requests");
    add_count(b, "", doc_at(n, "scheduled"), " due",
              doc_at(root, "offered_rps"));
    add_count(b, ", ", doc_at(n, "ok"), " ok", doc_at(root, "completed_rps"));
    if (has_slo)
        add_count(b, ", ", doc_at(n, "good"), " within SLO",
                  doc_at(root, "goodput_rps"));
    brief_optional(b);
    brief_value(b, ", ", doc_at(root, "output_tokens_per_s"), "");
}

static int by_count(const void *a, const void *b)
{
    const struct doc_node *x = *(const struct doc_node *const *)a;
    const struct doc_node *y = *(const struct doc_node *const *)b;

    return (x->count < y->count) - (x->count > y->count);
}

/* The most frequent kinds, "status" with the statuses that came. */
static void add_kinds(struct brief *b, const struct doc_node *root)
{
    const struct doc_node *kinds = doc_at(root, "requests.by_outcome");
    const struct doc_node *statuses = doc_at(root, "requests.by_status");
    const struct doc_node *sorted[MAX_OUTCOMES];
    size_t n = 0;

    for (const struct doc_node *c = kinds ? kinds->first : NULL;
         c && n < MAX_OUTCOMES; c = c->next)
        sorted[n++] = c;
    if (n > 0)
        qsort(sorted, n, sizeof(struct doc_node *), by_count);
    for (size_t i = 0; i < n && i < MAX_KINDS; i++) {
        const char *before = " ";

        brief_value(b, i > 0 ? ", " : ": ", sorted[i], " ");
        brief_words(b, "%s", sorted[i]->label);
        if (strcmp(sorted[i]->label, "status") != 0 || !statuses)
            continue;
        for (const struct doc_node *c = statuses->first; c; c = c->next) {
            brief_words(b, "%s%s", before, c->label);
            before = "/";
        }
    }
    if (n > MAX_KINDS)
        brief_words(b, " and others");
}

static void add_errors(struct brief *b, const struct doc_node *root)
{
    const struct doc_node *failed = doc_at(root, "requests.failed");
    const struct doc_node *unsent = doc_at(root, "requests.unsent");
    const struct doc_node *texts = doc_at(root, "failures");

    if (is_zero(failed) && is_zero(unsent))
        return;
    brief_line(b, 1, "errors");
    if (!is_zero(failed)) {
        brief_value(b, "", failed, " failed");
        add_kinds(b, root);
    }
    if (!is_zero(unsent))
        brief_value(b, is_zero(failed) ? "" : "; ", unsent, " not sent");
    if (texts && texts->first && !is_zero(failed))
        brief_value(b, " (", doc_at(texts->first, "text"), ")");
}

/* ---- latencies ---- */

static bool has_term_on(const struct doc_node *root, const char *measure)
{
    const struct doc_node *slo = doc_at(root, "slo");

    for (const struct doc_node *c = slo ? slo->first : NULL; c; c = c->next) {
        struct slo_term term;

        if (slo_parse_term(brief_text_of(doc_at(c, "term")), &term,
                           &(struct err){0}) == 0 &&
            (term.kind == SLO_QUANTILE || term.kind == SLO_LIMIT) &&
            strcmp(measure_name(term.measure), measure) == 0)
            return true;
    }
    return false;
}

static void add_latency(struct brief *b, const struct doc_node *root,
                        const char *name, int rank, const char *says)
{
    static const char *const quantiles[] = {"p50", "p90", "p99", "max"};
    char path[BRIEF_TEXT];
    size_t column = 0;
    const struct doc_node *n;

    snprintf(path, sizeof(path), "measures.%s", name);
    n = doc_at(root, path);
    if (!n || !n->label || is_zero(doc_at(n, "n")))
        return;
    if (rank > OF_THE_SLO && has_term_on(root, name))
        rank = OF_THE_SLO;
    brief_line(b, rank, name);
    for (size_t i = 0; i < sizeof(quantiles) / sizeof(quantiles[0]); i++) {
        snprintf(path, sizeof(path), "%s_ms", quantiles[i]);
        brief_words(b, "%s ", quantiles[i]);
        brief_value(b, "", doc_at(n, path), "");
        brief_pad(b, column += 13);
    }
    brief_optional(b);
    brief_tone(b, TONE_DIM, "%s", says);
}

static void add_latencies(struct brief *b, const struct doc_node *root)
{
    bool is_streamed =
        doc_at(root, "measures.ttft") && doc_at(root, "measures.ttft")->label;

    add_latency(b, root, "query", 2, "whole query");
    add_latency(b, root, "e2e", is_streamed ? 5 : 1, "whole answer");
    add_latency(b, root, "ttft", 1, "first token");
    add_latency(b, root, "tpot", 4, "per output token");
}

/* ---- the SLO ---- */

/* A term of the run, of a class or of a tier. */
struct term {
    const struct doc_node *row;
    const char *of; /* the class or tier; "": the run */
    enum badness badness;
    size_t at; /* as they were given */
};

struct terms {
    struct term *list;
    size_t n;
};

static enum badness badness_of(const struct doc_node *row)
{
    const char *verdict = brief_text_of(doc_at(row, "verdict"));

    if (strcmp(verdict, "fail") == 0)
        return FAILED;
    if (strcmp(verdict, "undecided") == 0)
        return UNDECIDED;
    if (strcmp(verdict, "pass") == 0)
        return is_true(doc_at(row, "shown")) ? SHOWN : PASSED;
    return LIMIT;
}

static void collect(struct terms *t, const struct doc_node *table,
                    const char *of)
{
    for (const struct doc_node *c = table ? table->first : NULL; c;
         c = c->next) {
        t->list = xrealloc(t->list, t->n + 1, sizeof(*t->list));
        t->list[t->n] = (struct term){c, of, badness_of(c), t->n};
        t->n++;
    }
}

static int worst_first(const void *a, const void *b)
{
    const struct term *x = a;
    const struct term *y = b;

    if (x->badness != y->badness)
        return x->badness < y->badness ? 1 : -1;
    return (x->at > y->at) - (x->at < y->at);
}

/* Terms of a tier are in the run's own table as well. */
static void collect_all(struct terms *t, const struct doc_node *root)
{
    const struct doc_node *tiers = doc_at(root, "tiers");
    const struct doc_node *classes = doc_at(root, "classes");

    if (!tiers || !tiers->first)
        collect(t, doc_at(root, "slo"), "");
    for (const struct doc_node *c = tiers ? tiers->first : NULL; c; c = c->next)
        collect(t, doc_at(c, "slo"), brief_text_of(doc_at(c, "name")));
    for (const struct doc_node *c = classes ? classes->first : NULL; c;
         c = c->next) {
        if (!c->is_text_only)
            collect(t, doc_at(c, "slo"), brief_text_of(doc_at(c, "name")));
    }
    if (t->n > 0)
        qsort(t->list, t->n, sizeof(t->list[0]), worst_first);
}

/* "chat/ttft p99 < 1s" */
static void name_of(const struct term *t, char out[static BRIEF_TEXT])
{
    const char *text = brief_text_of(doc_at(t->row, "term"));
    size_t len = strlen(t->of);

    /* A tier's term begins with its name. */
    if (len == 0 || strncmp(text, t->of, len) == 0)
        snprintf(out, BRIEF_TEXT, "%s", text);
    else
        snprintf(out, BRIEF_TEXT, "%s/%s", t->of, text);
}

static void add_term(struct brief *b, const struct term *t, size_t i,
                     const size_t widths[static 2])
{
    const struct doc_node *verdict = doc_at(t->row, "verdict");
    const struct doc_node *interval = doc_labelled(t->row, "90% interval");
    const struct doc_node *measured = doc_at(t->row, "measured");
    const struct doc_node *note = doc_at(t->row, "met_note");
    const char *word = brief_text_of(verdict);
    char name[BRIEF_TEXT];

    name_of(t, name);
    brief_item(b,
               i == 0                                   ? 0
               : i < MAX_BAD && t->badness >= UNDECIDED ? 2
               : i < MAX_BAD                            ? 4
                                                        : 7,
               i == 0 ? "SLO" : "");
    brief_tone(b, brief_tone_of(verdict), "%s",
               strcmp(word, "fail") == 0 ? "FAIL"
               : t->badness == LIMIT     ? "limit"
                                         : word);
    brief_pad(b, widths[0] + 2);
    brief_words(b, "%s", name);
    brief_pad(b, widths[0] + 2 + widths[1] + 2);
    brief_value(b, "", measured ? measured : doc_at(t->row, "measured_ms"), "");
    if (t->badness == UNDECIDED && note && note->label) {
        brief_value(b, " (", note, ")");
        return;
    }
    brief_optional(b);
    if (t->badness != LIMIT && strcmp(brief_text_of(interval), "too few") == 0)
        brief_words(b, " (too few requests for an interval)");
    else if (t->badness != LIMIT)
        brief_value(b, " (interval ", interval, ")");
    brief_optional(b);
    if (note && note->label)
        brief_value(b, ", ", note, "");
}

static bool add_terms(struct brief *b, const struct doc_node *root)
{
    struct terms t = {0};
    size_t widths[2] = {0};

    collect_all(&t, root);
    for (size_t i = 0; i < t.n; i++) {
        char name[BRIEF_TEXT];
        size_t len = t.list[i].badness == UNDECIDED ? strlen("undecided")
                     : t.list[i].badness == LIMIT   ? strlen("limit")
                                                    : strlen("pass");

        name_of(&t.list[i], name);
        widths[0] = len > widths[0] ? len : widths[0];
        widths[1] = strlen(name) > widths[1] ? strlen(name) : widths[1];
    }
    for (size_t i = 0; i < t.n; i++)
        add_term(b, &t.list[i], i, widths);
    free(t.list);
    return t.n > 0;
}

/* "chat pass, embed FAIL": of classes or tiers.  Of many, those that do not
 * pass. */
static void add_verdicts(struct brief *b, int rank, const char *head,
                         const struct doc_node *list)
{
    bool is_first = true;
    bool has_others = false;
    size_t n = 0;

    for (const struct doc_node *c = list ? list->first : NULL; c; c = c->next)
        n++;
    for (const struct doc_node *c = list ? list->first : NULL; c; c = c->next) {
        const struct doc_node *verdict = doc_at(c, "verdict");
        const char *word = brief_text_of(verdict);
        bool is_passed = strcmp(word, "pass") == 0;

        if (c->is_text_only || strcmp(word, "none") == 0)
            continue;
        has_others |= n > MANY && is_passed;
        if (n > MANY && is_passed)
            continue;
        if (is_first)
            brief_line(b, rank, head);
        brief_words(b, "%s%s ", is_first ? "" : ", ",
                    brief_text_of(doc_at(c, "name")));
        brief_tone(b, brief_tone_of(verdict), "%s",
                   strcmp(word, "fail") == 0 ? "FAIL" : word);
        is_first = false;
    }
    if (has_others && is_first)
        brief_line(b, rank, head);
    if (has_others)
        brief_words(b, is_first ? "all pass" : ", the others pass");
}

/* ---- trust ---- */

/* The first check that makes the run invalid, with its advice unless the
 * report says what to do next, then the names of others. */
static void add_failed_checks(struct brief *b, const struct doc_node *checks,
                              bool has_next)
{
    bool is_first = true;

    for (const struct doc_node *c = checks->first; c; c = c->next) {
        if (is_true(doc_at(c, "ok")) || !is_true(doc_at(c, "fatal")))
            continue;
        brief_words(b, "%s", is_first ? " (" : "; also ");
        brief_value(b, "", doc_at(c, "name"), "");
        if (is_first) {
            brief_value(b, " ", doc_at(c, "value"), "");
            brief_value(b, " ", doc_at(c, "unit"), "");
            brief_value(b, ", ", doc_at(c, "limit"), "");
            if (!has_next)
                brief_value(b, ": ", doc_at(c, "advice"), "");
        }
        is_first = false;
    }
    brief_words(b, "%s", is_first ? "" : ")");
}

static void add_trust(struct brief *b, const struct doc_node *root)
{
    const struct doc_node *trust = doc_at(root, "trust");
    const struct doc_node *checks = doc_at(trust, "checks");
    const struct doc_node *next = doc_at(root, "next");
    const char *before = "; noted, with no effect on the verdict: ";
    bool is_valid = is_true(doc_at(trust, "valid"));

    if (!checks)
        return;
    brief_line(b, 1, "trust");
    brief_tone(b, is_valid ? TONE_GOOD : TONE_BAD, "%s",
               doc_at(trust, "valid")->shown);
    if (!is_valid)
        add_failed_checks(b, checks, next && next->first);
    else
        brief_optional(b);
    for (const struct doc_node *c = checks->first; c && is_valid; c = c->next) {
        if (is_true(doc_at(c, "ok")))
            continue;
        brief_value(b, before, doc_at(c, "name"), "");
        before = ", ";
    }
}

/* ---- all of it ---- */

static void add_next(struct brief *b, const struct doc_node *root)
{
    const struct doc_node *next = doc_at(root, "next");
    int rank = 1;

    for (const struct doc_node *c = next ? next->first : NULL; c; c = c->next) {
        brief_line(b, rank, rank == 1 ? "next" : "");
        brief_words(b, "%s", c->text);
        rank = 7;
    }
}

/* Remarks about the answers that a reader of the numbers must know. */
static void add_notes(struct brief *b, const struct doc_node *root)
{
    const struct doc_node *notes = doc_at(root, "notes");

    for (const struct doc_node *c = notes ? notes->first : NULL; c;
         c = c->next) {
        brief_item(b, 3, "warning");
        brief_value(b, "", doc_at(c, "count"), " of ");
        brief_value(b, "", doc_at(c, "of"), " ");
        brief_value(b, "", doc_at(c, "share"), ": ");
        brief_value(b, "", doc_at(c, "text"), "");
    }
}

static void add_others(struct brief *b, const struct doc_node *root)
{
    const struct doc_node *n = doc_at(root, "mlperf");

    if (n) {
        const struct doc_node *result = doc_at(n, "result_per_s");

        brief_line(b, 2, "mlperf");
        brief_value(b, "", doc_at(n, "metric"), ": ");
        brief_value(b, "", result ? result : doc_at(n, "result_ms"), "");
        brief_value(b, ", ", doc_at(n, "division"), " division");
    }
    brief_section(b, 2, "cache", doc_at(root, "cache_check"));
    brief_section(b, 1, "until", doc_at(root, "until"));
    brief_section(b, 3, "straggler", doc_labelled(root, "straggler"));
    brief_section(b, 3, "energy", doc_at(root, "energy"));
    brief_section(b, 3, "memory", doc_labelled(root, "memory"));
    brief_table(b, doc_at(root, "curve.points"), NULL);
    n = doc_at(root, "cost");
    if (n && n->type == DOC_SECTION) {
        brief_line(b, 6, "cost");
        brief_value(b, "", doc_at(n, "usd"), " for the window");
        brief_value(b, ", ", doc_at(n, "usd_per_1000_good_requests"),
                    " per 1000 good requests");
    }
}

void run_brief(struct brief *b, const struct doc_node *root)
{
    const struct doc_node *verdict = doc_labelled(root, "verdict");
    const struct doc_node *slo = doc_at(root, "slo");

    brief_title(b, root);
    brief_section(b, 5, "load", doc_labelled(root, "load"));
    brief_warnings(b, root);
    add_notes(b, root);
    add_requests(b, root, slo && slo->first);
    add_errors(b, root);
    add_latencies(b, root);
    add_others(b, root);
    add_verdicts(b, 3, "classes", doc_at(root, "classes"));
    add_verdicts(b, 1, "tiers", doc_at(root, "tiers"));
    add_terms(b, root);
    add_trust(b, root);
    brief_sentences(b, 1, "why", verdict);
    add_next(b, root);
    brief_where(b);
    brief_verdict(b, root);
}
