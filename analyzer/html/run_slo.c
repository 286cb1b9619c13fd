/* The objectives of a run, and of each class of requests. */
#include <math.h>
#include <stdio.h>

#include "analyzer/html/chart/slo_strip.h"
#include "analyzer/html/html_text.h"
#include "analyzer/html/run_page.h"
#include "analyzer/tally/summary.h"
#include "common/text/units.h"

/* "pass, shown": with 95 % confidence, so the interval excludes the limit. */
static const char *words_of(const struct term_judgement *j)
{
    switch (j->verdict) {
    case VERDICT_PASS:
        return j->is_shown ? "pass, shown" : "pass as observed";
    case VERDICT_FAIL:
        return j->is_shown ? "fail, shown" : "fail as observed";
    default:
        return verdict_name(j->verdict);
    }
}

static void take_values(const struct term_judgement *j, struct slo_row *r)
{
    r->measured = r->low = r->high = NAN;
    if (j->term->kind == SLO_QUANTILE) {
        if (j->measured_ns >= 0)
            r->measured = (double)j->measured_ns;
        else if (j->measured_ns == HIST_BEYOND)
            r->measured = INFINITY;
        if (j->low_ns > 0 || j->high_ns >= 0) {
            r->low = (double)j->low_ns;
            r->high = j->high_ns >= 0 ? (double)j->high_ns : INFINITY;
        }
        return;
    }
    if (j->is_unmeasured)
        return;
    r->measured = j->measured;
    r->low = j->ci90.low;
    r->high = j->ci90.high;
    if (j->term->kind == SLO_GOODPUT) { /* its interval is of a share */
        double offered_rps =
            j->allowed < 1 ? j->term->limit / (1 - j->allowed) : NAN;

        r->low *= offered_rps;
        r->high *= offered_rps;
    }
}

static void say_interval(const struct term_judgement *j,
                         const struct slo_row *r, char *out, size_t size)
{
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];
    char span[UNITS_TEXT];
    int len;

    if (isnan(r->low))
        len = snprintf(out, size, "%s",
                       j->is_unmeasured || j->is_unjudgeable
                           ? ""
                           : "too few requests for an "
                             "interval");
    else if (isinf(r->high))
        len = snprintf(out, size, "90%% interval %s or more",
                       slo_show(j->term, r->low, a));
    else if (r->low <= 0 && j->term->kind == SLO_QUANTILE)
        len = snprintf(out, size, "90%% interval %s or less",
                       slo_show(j->term, r->high, b));
    else
        len = snprintf(out, size, "90%% interval %s to %s",
                       slo_show(j->term, r->low, a),
                       slo_show(j->term, r->high, b));
    if (slo_is_across(r))
        len += snprintf(out + len, size - (size_t)len, ", across the limit");
    if (j->more_needed > 0)
        snprintf(out + len, size - (size_t)len,
                 "; about %s more requests needed",
                 show_count(j->more_needed, a));
    else if (j->why)
        snprintf(out + len, size - (size_t)len, "%s%s", len > 0 ? "; " : "",
                 j->why);
    else if (!j->is_shown && isfinite(j->decide_in_s) && j->decide_in_s >= 1)
        snprintf(
            out + len, size - (size_t)len, "; about %s more would decide it",
            units_show_span(llround(1e9 * fmin(j->decide_in_s, 1e9)), span));
}

static size_t count_judged(const struct judgement *j)
{
    size_t n = 0;

    for (size_t i = 0; i < j->len; i++)
        n += j->terms[i].verdict != VERDICT_NONE;
    return n;
}

static void put_terms(struct page *p, const char *class,
                      const struct judgement *j)
{
    for (size_t i = 0; i < j->len; i++) {
        const struct term_judgement *t = &j->terms[i];
        char interval[320];
        struct slo_row r = {.class = class,
                            .term = t->term,
                            .tone =
                                verdict_look(verdict_name(t->verdict))->tone,
                            .verdict = words_of(t),
                            .interval = interval};

        if (t->verdict == VERDICT_NONE)
            continue;
        take_values(t, &r);
        say_interval(t, &r, interval, sizeof(interval));
        slo_strip_row(p, &r);
    }
}

void run_slo_put(struct page *p, const struct summary *s)
{
    size_t n = count_judged(&s->judgement);

    for (size_t i = 0; i < s->n_classes; i++)
        n += count_judged(&s->classes[i].judgement);
    if (n == 0)
        return;
    slo_strip_begin(p);
    put_terms(p, NULL, &s->judgement);
    for (size_t i = 0; i < s->n_classes; i++)
        put_terms(p, s->classes[i].name, &s->classes[i].judgement);
    slo_strip_end(p);
}
