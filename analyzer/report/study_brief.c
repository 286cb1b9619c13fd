/* The short forms of studies: sets of trials, sweeps, searches and variants. */
#include <stdio.h>
#include <string.h>

#include "analyzer/report/brief.h"
#include "analyzer/report/doc.h"
#include "analyzer/report/study_doc.h"

/* The part of the document that has this key; NULL: there is none. */
static const struct doc_node *part_with(const struct doc_node *root,
                                        const char *key)
{
    for (const struct doc_node *c = root->first; c; c = c->next) {
        if (c->type == DOC_SECTION && c->label && !c->key && doc_at(c, key))
            return c;
    }
    return NULL;
}

/* The sentences of a list, after each other. */
static void add_joined(struct brief *b, const struct doc_node *list)
{
    const char *before = "";

    for (const struct doc_node *c = list ? list->first : NULL; c; c = c->next) {
        brief_words(b, "%s%s", before, c->text ? c->text : "");
        before = ", ";
    }
}

/* ---- trials ---- */

static void add_term(struct brief *b, const struct doc_node *row, int rank)
{
    const struct doc_node *verdict = doc_at(row, "verdict");
    const struct doc_node *measured = doc_at(row, "measured_ms");
    const char *class = brief_text_of(doc_at(row, "class"));

    if (!measured)
        measured = doc_at(row, "measured");
    brief_item(b, rank, rank == 0 ? "SLO" : "");
    brief_tone(b, brief_tone_of(verdict), "%s",
               strcmp(brief_text_of(verdict), "fail") == 0
                   ? "FAIL"
                   : brief_text_of(verdict));
    brief_words(b, "  %s%s%s  ", class, class[0] ? "/" : "",
                brief_text_of(doc_at(row, "term")));
    brief_value(b, "median ", doc_at(measured, "median"), "");
    brief_value(b, " (", doc_at(measured, "median_ci"), ")");
    brief_optional(b);
    brief_value(b, ", missed by ", doc_at(row, "share_missed"), "");
    brief_value(b, ", allowed ", doc_at(row, "share_allowed"), "");
}

static bool is_verdict(const struct doc_node *row, const char *name)
{
    return strcmp(brief_text_of(doc_at(row, "verdict")), name) == 0;
}

/* Those that are missed first, then those that are undecided. */
static void add_terms(struct brief *b, const struct doc_node *table)
{
    static const char *const order[] = {"fail", "undecided", "pass"};
    int rank = 0;

    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        for (const struct doc_node *c = table ? table->first : NULL; c;
             c = c->next) {
            if (!is_verdict(c, order[i]))
                continue;
            add_term(b, c, rank);
            rank = 3;
        }
    }
}

static void add_over(struct brief *b, int rank, const char *head,
                     const struct doc_node *over)
{
    if (!over || over->type != DOC_SECTION || !doc_at(over, "median"))
        return;
    brief_line(b, rank, head);
    brief_value(b, "median ", doc_at(over, "median"), "");
    brief_value(b, " (interval ", doc_at(over, "median_ci"), ")");
}

/* One value per trial, so that a trial that differs is seen. */
static void add_each(struct brief *b, const struct doc_node *each)
{
    const struct doc_node *first = each ? each->first : NULL;
    const char *before = "";

    if (!first || doc_at(first, "e2e_p99_ms")->is_missing)
        return;
    brief_line(b, 6, "trials");
    brief_words(b, "e2e p99 of each: ");
    for (const struct doc_node *c = first; c; c = c->next) {
        if (c->is_text_only)
            continue;
        brief_value(b, before, doc_at(c, "e2e_p99_ms"), "");
        before = ", ";
    }
}

static void add_discarded(struct brief *b, const struct doc_node *each)
{
    for (const struct doc_node *c = each ? each->first : NULL; c; c = c->next) {
        if (c->is_text_only || !brief_text_of(doc_at(c, "discarded"))[0])
            continue;
        brief_item(b, 4, "discarded");
        brief_value(b, "trial ", doc_at(c, "trial"), ": ");
        brief_value(b, "", doc_at(c, "discarded"), "");
    }
}

void trials_brief(struct brief *b, const struct doc_node *root)
{
    const struct doc_node *each = doc_at(root, "each");
    const struct doc_node *ttft = doc_at(root, "measures.ttft");
    const struct doc_node *slo = doc_at(root, "slo");

    brief_title(b, root);
    brief_section(b, 2, "trials", doc_at(root, "trials"));
    brief_section(b, 8, "starts", doc_labelled(root, "starts"));
    brief_warnings(b, root);
    /* Without an SLO every request that ended ok is good. */
    if (slo && slo->first)
        add_over(b, 3, "goodput", doc_at(root, "goodput_rps"));
    else
        add_over(b, 3, "completed", doc_at(root, "completed_rps"));
    if (ttft && ttft->label)
        add_over(b, 3, "ttft p99", doc_at(ttft, "p99_ms"));
    add_over(b, 3, "e2e p99", doc_at(root, "measures.e2e.p99_ms"));
    add_each(b, each);
    add_discarded(b, each);
    brief_section(b, 1, "until", doc_at(root, "until"));
    add_terms(b, slo);
    brief_sentences(b, 5, "why", doc_labelled(root, "verdict"));
    brief_where(b);
    brief_verdict(b, root);
}

/* ---- a sweep ---- */

void sweep_brief(struct brief *b, const struct doc_node *root)
{
    const struct doc_node *values = doc_at(root, "values");
    const struct doc_node *first = values ? values->first : NULL;
    const struct doc_node *varied = first ? doc_at(first, "value") : NULL;
    const struct doc_node *slo = doc_at(root, "slo");
    const struct doc_node *within = part_with(root, "within_slo");
    bool is_streamed = first && doc_at(first, "measures.ttft") &&
                       doc_at(first, "measures.ttft")->label;
    const char *const columns[] = {varied ? varied->label : "",
                                   is_streamed ? "goodput" : "completed",
                                   is_streamed ? "ttft p99" : "goodput",
                                   is_streamed ? "tpot p99" : "e2e p50",
                                   "e2e p99",
                                   "SLO",
                                   "runs",
                                   "",
                                   NULL};

    brief_title(b, root);
    if (slo && slo->first) {
        brief_line(b, 1, "SLO");
        add_joined(b, slo);
    }
    brief_table(b, values, columns);
    brief_warnings(b, root);
    brief_section(b, 5, "knee", part_with(root, "knee"));
    brief_section(b, 2, "saturation", part_with(root, "saturation"));
    if (within)
        brief_section(b, 3, "goodput", part_with(root, "best_goodput"));
    brief_sentences(b, 4, "discarded", doc_labelled(root, "discarded"));
    brief_section(b, 1, "ended", doc_labelled(root, "ended"));
    brief_where(b);
    if (within)
        brief_answer(b, "answer", within,
                     doc_at(within, "within_slo")->is_missing ? TONE_OPEN
                                                              : TONE_GOOD,
                     true);
    else
        brief_answer(b, "answer", part_with(root, "best_goodput"), TONE_PLAIN,
                     true);
}

/* ---- a search ---- */

void search_brief(struct brief *b, const struct doc_node *root)
{
    brief_title(b, root);
    brief_line(b, 1, "search");
    brief_words(b, "the highest %s that meets ",
                strcmp(brief_text_of(doc_at(root, "by")), "rate") == 0
                    ? "request rate"
                    : "number of concurrent clients");
    add_joined(b, doc_at(root, "slo"));
    brief_section(b, 2, "bracket", doc_labelled(root, "bracket"));
    brief_section(b, 2, "limited by", part_with(root, "binding"));
    brief_section(b, 4, "client", doc_labelled(root, "client"));
    brief_section(b, 3, "spent", doc_labelled(root, "spent"));
    brief_where(b);
    brief_answer(b, "capacity", doc_labelled(root, "capacity"),
                 brief_tone_of(doc_at(root, "outcome")), true);
}

/* ---- variants ---- */

/* "continuous, then none (+12.3%)": the best first; "then": shown to be
 * worse. */
static void add_order(struct brief *b, const struct doc_node *ranking,
                      bool is_first)
{
    const struct doc_node *order = doc_at(ranking, "order");
    int64_t last = 0;

    brief_item(b, is_first ? 1 : 2, is_first ? "ranking" : "");
    brief_value(b, "at ", doc_at(ranking, "value"), "");
    brief_value(b, ", by ", doc_at(ranking, "by"), ": ");
    for (const struct doc_node *c = order ? order->first : NULL; c;
         c = c->next) {
        const struct doc_node *place = doc_at(c, "rank");

        if (!place || place->is_missing)
            continue;
        brief_value(b,
                    last == 0              ? ""
                    : place->count == last ? ", "
                                           : ", then ",
                    doc_at(c, "variant"), "");
        brief_value(b, " (", doc_at(c, "worse_by"), ")");
        last = place->count;
    }
    if (last == 0)
        brief_words(b, "not known");
}

static void add_failed(struct brief *b, const struct doc_node *variants)
{
    for (const struct doc_node *c = variants ? variants->first : NULL; c;
         c = c->next) {
        const struct doc_node *failed = doc_at(c, "failed");
        const struct doc_node *why = failed ? failed : doc_at(c, "not_counted");

        if (!why)
            continue;
        brief_item(b, 4, failed ? "failed" : "discarded");
        brief_value(b, "", doc_at(c, "name"), ": ");
        brief_value(b, "", why, "");
    }
}

static void add_capacities(struct brief *b, const struct doc_node *root)
{
    static const char *const columns[] = {
        "rank", "variant", "capacity", "90% interval", "bracket", "", NULL};

    brief_table(b, doc_labelled(root, "the highest load that meets the SLO"),
                columns);
}

void variants_brief(struct brief *b, const struct doc_node *root)
{
    const struct doc_node *rankings = doc_at(root, "rankings");
    const struct doc_node *best = doc_at(root, "capacity_ranking");
    const struct doc_node *light = doc_labelled(root, "light load");
    bool is_search = strcmp(brief_text_of(doc_at(root, "of")), "search") == 0;

    brief_title(b, root);
    brief_section(b, 1, "SLO", doc_labelled(root, "SLO"));
    add_failed(b, doc_at(root, "variants"));
    for (const struct doc_node *c = rankings ? rankings->first : NULL;
         c && !is_search; c = c->next)
        add_order(b, c, c == rankings->first);
    brief_sentences(b, 5, "crossover", doc_labelled(root, "crossover"));
    if (is_search)
        add_capacities(b, root);
    brief_where(b);
    if (is_search && best && best->first) {
        brief_line(b, 0, "best");
        brief_value(b, "", doc_at(best->first, "variant"), "");
    } else if (light) {
        brief_section(b, 0, "light load", light);
        brief_answer(b, "high load", doc_labelled(root, "high load"),
                     TONE_PLAIN, true);
    } else {
        brief_answer(b, "order", doc_labelled(root, "order"), TONE_PLAIN, true);
    }
}
