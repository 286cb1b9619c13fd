/* The short forms of comparisons: of recordings, of a history and of
 * searches. */
#include <string.h>

#include "analyzer/compare/compare.h"
#include "analyzer/report/brief.h"
#include "analyzer/report/doc.h"

static bool is_true(const struct doc_node *n)
{
    return n && !n->is_missing && n->kind == DOC_BOOL && n->count != 0;
}

/* "e2e p99  baseline 12.0ms, candidate 14.0ms, ratio 1.17 (1.03 to 1.29)" */
static void add_finding(struct brief *b, const struct doc_node *row, int rank,
                        bool is_first)
{
    const struct doc_node *first = doc_at(row, "a");
    const struct doc_node *second = doc_at(row, "b");
    const struct doc_node *verdict = doc_at(row, "verdict");

    brief_item(b, rank, is_first ? "compared" : "");
    brief_tone(b, brief_tone_of(verdict), "%s", brief_text_of(verdict));
    brief_value(b, "  ", doc_at(row, "quantity"), ": ");
    brief_words(b, "%s ", first->label);
    brief_value(b, "", first, "");
    brief_words(b, ", %s ", second->label);
    brief_value(b, "", second, "");
    brief_value(b, ", ratio ", doc_at(row, "ratio"), "");
    brief_value(b, " (interval ", doc_at(row, "ratio_interval"), ")");
}

/* The requested quantities; of the others those that differ. */
static void add_findings(struct brief *b, const struct doc_node *table)
{
    bool is_first = true;

    for (const struct doc_node *c = table ? table->first : NULL; c;
         c = c->next) {
        bool is_asked = is_true(doc_at(c, "asked"));
        const char *verdict = brief_text_of(doc_at(c, "verdict"));

        if (c->type != DOC_SECTION || !c->label ||
            (!is_asked && strcmp(verdict, "better") != 0 &&
             strcmp(verdict, "worse") != 0))
            continue;
        add_finding(b, c, is_first ? 0 : is_asked ? 3 : 6, is_first);
        is_first = false;
    }
}

static void add_rankings(struct brief *b, const struct doc_node *list)
{
    static const char *const columns[] = {"rank", "side", "value", NULL};

    for (const struct doc_node *c = list ? list->first : NULL; c; c = c->next)
        brief_table(b, doc_at(c, "places"), columns);
}

/* Conditions that must match, and the variable. */
static void add_differences(struct brief *b, const struct doc_node *list)
{
    for (const struct doc_node *c = list ? list->first : NULL; c; c = c->next) {
        bool is_declared = is_true(doc_at(c, "declared"));
        bool must = strcmp(brief_text_of(doc_at(c, "kind")), "must match") == 0;

        if (!is_declared && !must)
            continue;
        brief_item(b, 2, is_declared ? "varied" : "differs");
        brief_value(b, "", doc_at(c, "key"), ": ");
        brief_value(b, "", doc_at(c, "a"), "");
        brief_value(b, " and ", doc_at(c, "b"), "");
        if (!is_declared)
            brief_value(b, " (", doc_at(c, "why"), ")");
    }
}

static void add_fairness(struct brief *b, const struct doc_node *fairness)
{
    const struct doc_node *checks = doc_at(fairness, "checks");
    const struct doc_node *first = NULL;

    for (const struct doc_node *c = checks ? checks->first : NULL; c && !first;
         c = c->next) {
        if (strcmp(brief_text_of(doc_at(c, "answer")), "failed") == 0)
            first = c;
    }
    brief_line(b, 2, "fairness");
    brief_value(b, "", doc_at(fairness, "passed"), " checks passed");
    brief_value(b, ", ", doc_at(fairness, "failed"), " failed");
    brief_value(b, ", ", doc_at(fairness, "unknown"), " unknown");
    if (!first)
        return;
    brief_value(b, "; ", doc_at(first, "name"), "");
    brief_value(b, ": ", doc_at(first, "says"), "");
    brief_line(b, 3, "next");
    brief_value(b, "", doc_at(first, "mend"), "");
}

void compare_brief(struct brief *b, const struct doc_node *root)
{
    const struct doc_node *sides = doc_at(root, "sides");
    const char *before = "";

    brief_line(b, 4, "compare");
    for (const struct doc_node *c = sides->first; c; c = c->next) {
        brief_value(b, before, doc_at(c, "label"), "");
        if (is_true(doc_at(c, "is_trial_set")))
            brief_value(b, " (", doc_at(c, "trials"), " trials)");
        before = before[0] && c->next ? ", " : " and ";
    }
    brief_section(b, 7, "load", doc_labelled(root, "load"));
    brief_section(b, 5, "over", doc_labelled(root, "over"));
    brief_warnings(b, root);
    add_differences(b, doc_at(root, "differences"));
    add_findings(b, doc_at(root, "findings"));
    add_rankings(b, doc_at(root, "rankings"));
    add_fairness(b, doc_at(root, "fairness"));
    brief_where(b);
    brief_verdict(b, root);
}

void capacities_brief(struct brief *b, const struct doc_node *root)
{
    const struct doc_node *list = doc_at(root, "differences");

    for (const struct doc_node *c = list->first; c; c = c->next)
        brief_section(b, 3, "differs", c);
    list = doc_at(root, "sides");
    for (const struct doc_node *c = list->first; c; c = c->next)
        brief_section(b, 2, c == list->first ? "capacity" : "", c);
    brief_where(b);
    brief_line(b, 0, "verdict");
    brief_tone(b, brief_tone_of(doc_at(root, "answer")), "%s",
               brief_text_of(doc_at(root, "answer")));
    if (list->first && list->first->next && !list->first->next->next) {
        brief_value(b, ": ", doc_at(list->first->next, "label"), "");
        brief_value(b, " against ", doc_at(list->first, "label"), "");
    }
}

void history_brief(struct brief *b, const struct doc_node *root)
{
    static const char *const columns[] = {"segment", "n", "median",
                                          "p of the change", NULL};

    brief_section(b, 6, "load", doc_labelled(root, "load"));
    brief_section(b, 1, "over", doc_labelled(root, "over"));
    brief_table(b, doc_at(root, "segments"), columns);
    brief_where(b);
    brief_verdict(b, root);
}
