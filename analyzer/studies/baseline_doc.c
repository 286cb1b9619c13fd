/* The documents of a baseline, and of later results against it. */
#include <string.h>

#include "analyzer/report/brief.h"
#include "analyzer/report/doc.h"
#include "analyzer/studies/baseline.h"

static const char *const labels[BASELINE_QUANTITIES] = {
    "time", "peak memory", "finished in the window", "quality"};

static struct doc_node *add_amount(struct doc_node *in, const char *key,
                                   const char *label, enum baseline_quantity q,
                                   double value)
{
    static const enum doc_kind kinds[BASELINE_QUANTITIES] = {
        [BASELINE_TIME] = DOC_SECONDS,
        [BASELINE_MEMORY] = DOC_BYTES,
        [BASELINE_THROUGHPUT] = DOC_RATE,
        [BASELINE_QUALITY] = DOC_SHARE,
    };
    return doc_value(in, kinds[q], key, label, value);
}

/* Those that people ask for first; the file has all of them. */
static bool is_shown(const char *key, const char *value)
{
    static const char *const shown[] = {
        "slo",           "target.model", "target.api",   "load.scenario",
        "load.requests", "load.rate",    "load.clients", "data.file"};
    bool is_listed = strncmp(key, "conditions.", strlen("conditions.")) == 0;

    for (size_t i = 0; i < sizeof(shown) / sizeof(shown[0]); i++)
        is_listed = is_listed || strcmp(key, shown[i]) == 0;
    return is_listed && value[0];
}

struct doc *baseline_doc(const struct baseline *b)
{
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *n = doc_section(root, NULL, "baseline");

    doc_text(n, "name", "", b->name);
    doc_text(n, "frozen", "frozen", b->frozen);
    doc_sep(doc_text(n, "tailgate", "by tailgate", b->version), " ");
    doc_text(doc_section(root, NULL, "seal"), "seal", "", b->seal);
    doc_text(doc_section(root, NULL, "taken"), "chosen", "", b->chosen);
    for (int i = 0; i < BASELINE_QUANTITIES; i++) {
        const struct baseline_amount *a = &b->amounts[i];
        enum baseline_quantity q = (enum baseline_quantity)i;

        n = doc_section(root, baseline_quantity_name[i], labels[i]);
        if (!a->is_present) {
            doc_line(n, DOC_PLAIN, "none: %s", a->note);
            continue;
        }
        add_amount(n, "median", "median", q, a->median);
        add_amount(n, "min", "min", q, a->least);
        add_amount(n, "max", "max", q, a->greatest);
        doc_count(n, "trials", "trials", a->n);
    }
    n = doc_section(root, NULL, "sealed");
    doc_count(n, "files", "files", (int64_t)b->n_files);
    doc_count(n, "answers", "answers", (int64_t)b->n_answers);
    doc_count(n, "conditions", "conditions", (int64_t)b->conditions.keys.len);
    for (size_t i = 0; i < b->conditions.keys.len; i++) {
        const char *key = b->conditions.keys.items[i];
        const char *value = b->conditions.values.items[i];

        if (is_shown(key, value))
            doc_line(n, DOC_PLAIN, "%s: %s", key, value);
    }
    return d;
}

static void add_answers(struct doc_node *root, const struct against *a)
{
    struct doc_node *n = doc_section(root, NULL, "answers");

    doc_count(n, "answers_agree", a->answers > 0 ? "" : NULL,
              (int64_t)a->agree);
    doc_sep(doc_count(n, "answers", a->answers > 0 ? "" : NULL,
                      (int64_t)a->answers),
            " of ");
    if (a->answers > 0)
        doc_sep(doc_text(n, NULL, "", "are those of the baseline"), " ");
    else if (a->baseline->n_answers > 0)
        doc_line(n, DOC_PLAIN, "not kept in this recording: use --accuracy");
}

static void against_brief(struct brief *b, const struct doc_node *root)
{
    const struct doc_node *differences = doc_at(root, "differences");
    bool is_first = true;

    brief_section(b, 2, "baseline", doc_labelled(root, "baseline"));
    brief_section(b, 3, "trials", doc_labelled(root, "trials"));
    brief_table(b, doc_at(root, "ratios"), NULL);
    brief_section(b, 1, "answers", doc_labelled(root, "answers"));
    for (const struct doc_node *c = differences->first; c; c = c->next) {
        brief_item(b, is_first ? 1 : 4, is_first ? "differs in" : "");
        brief_words(b, "%s", c->text);
        is_first = false;
    }
    brief_section(b, 1, "conditions", doc_labelled(root, "conditions"));
    brief_where(b);
}

struct doc *against_doc(const struct against *a)
{
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    struct doc_node *n = doc_section(root, NULL, "baseline");

    doc_text(n, "baseline", "", a->baseline->name);
    doc_text(n, NULL, "frozen", a->baseline->frozen);
    doc_show(doc_text(n, "seal", "seal", a->baseline->seal), "%.12s",
             a->baseline->seal);
    n = doc_section(root, NULL, a->trials + a->warmup > 1 ? "trials" : NULL);
    doc_count(n, "trials", "", (int64_t)a->trials);
    doc_show_if(doc_count(n, "warmup_trials", "warm-up trials, not counted",
                          (int64_t)a->warmup),
                a->warmup > 0);
    n = doc_rows(root, "ratios", "against the baseline");
    for (int i = 0; i < BASELINE_QUANTITIES; i++) {
        enum baseline_quantity q = (enum baseline_quantity)i;
        struct doc_node *row;

        if (!a->has[i]) {
            doc_null(n, baseline_quantity_name[i], NULL);
            continue;
        }
        row = doc_section(n, baseline_quantity_name[i], labels[i]);
        add_amount(row, "now", "now", q, a->value[i]);
        add_amount(row, "baseline", "baseline", q,
                   a->baseline->amounts[i].median);
        doc_number(row, "ratio", "ratio", a->ratio[i]);
        doc_text(row, NULL, "", q == BASELINE_TIME ? "times as fast" : "");
    }
    add_answers(root, a);
    doc_lines(root, "differences", "differs in", &a->differences);
    if (a->differences.len == 0)
        doc_line(doc_section(root, NULL, "conditions"), DOC_PLAIN, "the same");
    doc_set_brief(d, against_brief);
    return d;
}
