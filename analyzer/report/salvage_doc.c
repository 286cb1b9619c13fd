/* The document of a recording without its manifest. */
#include "analyzer/read/salvage.h"
#include "analyzer/report/doc.h"
#include "analyzer/report/run_doc.h"
#include "common/base/clk.h"

static void add_salvaged(struct doc_node *rows, const char *key,
                         const char *label, const struct hist *h)
{
    struct doc_node *row = doc_section(rows, key, h->n > 0 ? label : NULL);

    doc_count(row, "n", "n", h->n);
    for (size_t i = 0; i < SALVAGE_QUANTILES; i++) {
        const char *name = salvage_quantiles[i].name;
        int64_t ns = salvage_quantile(h, salvage_quantiles[i].q);

        /* The JSON has nanoseconds here. */
        doc_missing_if(doc_count(row, name, NULL, ns), ns < 0, NULL);
        doc_ns(row, NULL, name, (double)ns);
    }
}

static struct doc_node *add_time(struct doc_node *in, const char *key,
                                 const char *label, int64_t ns)
{
    return doc_unless(in, DOC_SECONDS, key, label, (double)ns / 1e9,
                      ns == TIME_ABSENT, NULL);
}

struct doc *salvage_doc(const struct salvage *s)
{
    struct doc *d = doc_new();
    struct doc_node *root = doc_root(d);
    bool is_damaged = s->damage.skipped_bytes + s->damage.cut_off_bytes > 0;
    struct doc_node *both;
    struct doc_node *n;

    doc_text(doc_section(root, NULL, "recording"), "recording", "", s->dir);
    doc_show(doc_text(doc_section(root, NULL, "manifest"), "manifest_lost", "",
                      s->why),
             "LOST: manifest.json %s", s->why);
    n = doc_section(root, NULL, "verdict");
    doc_null(n, "verdict", NULL);
    doc_line(n, DOC_PLAIN, "none: settings, window and SLO are not known");
    doc_line(n, DOC_PLAIN,
             "this report covers the whole table of requests, with warm-up "
             "and cool-down");
    doc_break(root);
    both = doc_section(root, NULL, "requests");
    doc_count(both, "requests", "", s->requests);
    n = doc_section(both, "outcomes", "");
    for (int i = 0; i < OUTCOME_COUNT; i++) {
        const char *name = outcome_name((enum outcome)i);

        doc_show_if(doc_count(n, name, name, s->outcome[i]), s->outcome[i] > 0);
    }
    n = doc_section(root, NULL, "times");
    add_time(n, "first_due_s", "first due", s->first_due_ns);
    add_time(n, "last_due_s", "last due", s->last_due_ns);
    add_time(n, "last_end_s", "last end", s->last_end_ns);
    n = doc_rows(root, NULL, "ok, from due");
    add_salvaged(n, "e2e_ok_from_due_ns", "e2e", &s->e2e);
    add_salvaged(n, "ttft_ok_from_due_ns", "ttft", &s->ttft);
    n = doc_section(root, "damage", is_damaged ? "damage" : NULL);
    doc_count(n, "skipped_bytes", "bytes skipped",
              (int64_t)s->damage.skipped_bytes);
    doc_count(n, "cut_off_bytes", "bytes cut off",
              (int64_t)s->damage.cut_off_bytes);
    if (s->has_summary)
        doc_line(doc_section(root, NULL, "summary"), DOC_PLAIN,
                 "%s/summary.json has the report as of the run", s->dir);
    doc_conclude(d, CONCLUSION_INVALID);
    return d;
}
