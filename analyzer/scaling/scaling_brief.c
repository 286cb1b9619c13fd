/* The short form of a scaling study: a row for each number of workers, and the
 * recommendation. */
#include <string.h>

#include "analyzer/report/brief.h"
#include "analyzer/report/doc.h"
#include "analyzer/scaling/scaling.h"

/* The table of speeds, which is for people alone. */
static const struct doc_node *speeds(const struct doc_node *root)
{
    for (const struct doc_node *c = root->first; c; c = c->next) {
        const struct doc_node *row = c->type == DOC_TABLE ? c->first : NULL;

        if (row && doc_labelled(row, "S(K)"))
            return c;
    }
    return NULL;
}

static void add_flags(struct brief *b, const struct doc_node *list)
{
    for (const struct doc_node *c = list ? list->first : NULL; c; c = c->next) {
        brief_item(b, 2, "RED FLAG");
        brief_value(b, "", doc_at(c, "name"), ": ");
        brief_value(b, "", doc_at(c, "says"), "");
    }
}

static void add_refusals(struct brief *b, const struct doc_node *list)
{
    for (const struct doc_node *c = list ? list->first : NULL; c; c = c->next) {
        brief_item(b, c == list->first ? 0 : 2, c == list->first ? "why" : "");
        brief_words(b, "%s", c->text);
    }
}

void scaling_brief(struct brief *b, const struct doc_node *root)
{
    static const char *const columns[] = {
        "K", "T(K)", "capacity", "S(K)", "E(K)", "95% of E", "verdict", NULL};
    const struct doc_node *verdict = doc_labelled(root, "verdict");
    const struct doc_node *k = doc_at(root, "verdict.recommended_k");
    const struct doc_node *excluded = doc_labelled(root, "EXCLUDED");

    brief_section(b, 4, "scaling", doc_labelled(root, "scaling"));
    brief_table(b, speeds(root), columns);
    brief_section(b, 3, "efficiency", doc_labelled(root, "efficiency"));
    brief_section(b, 2, "quality", doc_labelled(root, "quality"));
    for (const struct doc_node *c = excluded ? excluded->first : NULL; c;
         c = c->next)
        brief_section(b, 2, "EXCLUDED", c);
    brief_section(b, 1, "deadline", doc_labelled(root, "deadline"));
    brief_section(b, 5, "bend", doc_labelled(root, "bend"));
    add_flags(b, doc_at(root, "red_flags"));
    add_refusals(b, doc_at(root, "refusals"));
    brief_where(b);
    if (k && k->label && doc_at(root, "verdict")->label)
        brief_answer(b, "verdict", doc_at(root, "verdict"),
                     brief_tone_of(doc_at(root, "answer")), true);
    else
        brief_answer(b, "verdict", verdict,
                     brief_tone_of(doc_at(root, "answer")), true);
}
