#include "cli/report_asked.h"

#include <stdbool.h>
#include <string.h>

#include "common/base/err.h"
#include "common/settings/settings.h"
#include "common/spec/slo.h"

/* NULL: there is no such class. */
static struct strlist *slo_of_class(struct settings *s, const char *name,
                                    size_t len)
{
    for (size_t i = 0; i < s->classes.len; i++) {
        const struct class_settings *c = &s->classes.items[i];

        if (strlen(c->name) == len && strncmp(c->name, name, len) == 0)
            return &c->settings->slo;
    }
    return NULL;
}

/* Whose term it is. */
static struct strlist *owner(struct settings *s, const char *text)
{
    size_t len = slo_class_len(text);

    return len > 0 ? slo_of_class(s, text, len) : &s->slo;
}

/* Pauses and queries are of no class. */
static int check_class_term(const char *text, struct err *err)
{
    struct slo_term term;

    if (slo_parse_term(slo_after_class(text), &term, err))
        return -1;
    if (term.kind == SLO_QUANTILE && measure_is_pooled(term.measure))
        return err_set(err, ERR_USAGE,
                       "--slo: '%s': %s is taken of all requests together; it "
                       "can be asked of the run alone",
                       text, measure_name(term.measure));
    return 0;
}

int report_ask_slo(struct settings *s, const struct strlist *terms,
                   struct err *err)
{
    for (size_t i = 0; i < terms->len; i++) {
        const char *text = terms->items[i];

        if (!owner(s, text))
            return err_set(err, ERR_USAGE,
                           "--slo: '%s': the recording has no class '%.*s'",
                           text, (int)slo_class_len(text), text);
        if (slo_class_len(text) > 0 && check_class_term(text, err))
            return -1;
    }
    for (size_t i = 0; i < terms->len; i++)
        strlist_fini(owner(s, terms->items[i]));
    for (size_t i = 0; i < terms->len; i++)
        strlist_add(owner(s, terms->items[i]),
                    slo_after_class(terms->items[i]));
    return 0;
}
