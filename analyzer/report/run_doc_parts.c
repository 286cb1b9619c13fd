/* Parts of a run's document: its answers, its steady state, and what sessions,
 * the server and other rules say about it. */
#include <stdio.h>

#include "analyzer/report/doc.h"
#include "analyzer/report/run_doc.h"
#include "analyzer/tally/summary.h"

/* ---- answers ---- */

static void add_ratio(struct doc_node *in, enum doc_kind kind, const char *key,
                      const char *label, int64_t part, int64_t whole)
{
    doc_unless(in, kind, key, label,
               whole > 0 ? (double)part / (double)whole : 0, whole <= 0,
               "no samples");
}

/* key, key_n: how many answers have it, key_mean. */
static void add_sum(struct doc_node *in, const char *key, const char *label,
                    const struct token_sum *s)
{
    char name[48];

    if (s->n == 0) {
        doc_null(in, key, "not known");
        return;
    }
    doc_sep(doc_count(in, key, label, s->sum), "; ");
    snprintf(name, sizeof(name), "%s_n", key);
    doc_sep(doc_unit(doc_count(in, name, "", s->n), " requests"), " in ");
    snprintf(name, sizeof(name), "%s_mean", key);
    doc_number(in, name, "mean", token_mean(s));
}

static void add_reference(struct doc_node *root, const struct outlen *o)
{
    struct doc_node *n;

    if (o->source == OUTLEN_NONE) {
        doc_null(root, "output_reference", NULL);
        return;
    }
    n = doc_section(root, "output_reference", "reference");
    doc_show(doc_text(n, "source", "", outlen_source_name(o->source)),
             "output length %s",
             o->source == OUTLEN_DATA ? "of the data set" : "as configured");
    doc_sep(doc_unit(doc_number(n, "tokens", "", o->reference), " tokens"),
            ": ");
    doc_missing_if(doc_show(doc_share(n, "ratio", "", o->ratio),
                            "answers have %.4g%% of it", 100 * o->ratio),
                   o->mean < 0, "token counts are not available");
    doc_missing_if(doc_show(doc_bool(n, "ok", "", o->is_ok), "%s",
                            o->is_ok ? "within the tolerance of"
                                     : "OUTSIDE the tolerance of"),
                   o->mean < 0, "token counts are not available");
    doc_sep(
        doc_show_if(doc_share(n, "tolerance", "", o->tolerance), o->mean >= 0),
        " ");
}

static void add_streams(struct doc_node *tokens, const struct tokens *t)
{
    struct doc_node *n =
        doc_section(tokens, "streams", t->streams > 0 ? "streams" : NULL);

    doc_count(n, "n", "", t->streams);
    doc_count(n, "events", "events", t->events);
    add_ratio(n, DOC_NUMBER, "events_mean", "events per stream", t->events,
              t->streams);
    doc_count(n, "tokens", "tokens in events", t->event_tokens);
    add_ratio(n, DOC_NUMBER, "tokens_per_event", "tokens per event",
              t->event_tokens, t->events);
    doc_count(n, "coalesced", "events received together with the previous one",
              t->coalesced);
    add_ratio(n, DOC_SHARE, "coalesced_share", "share of events", t->coalesced,
              t->events);
    doc_count(n, "assumed", NULL, t->assumed);
    if (t->assumed > 0)
        doc_line(n, DOC_PLAIN,
                 "tpot and itl of %lld requests ASSUME one token per event: "
                 "the server reports tokens per answer, not per event",
                 (long long)t->assumed);
}

static void add_tokens(struct doc_node *root, const struct summary *s)
{
    const struct tokens *t = &s->tokens;
    struct doc_node *n;
    struct doc_node *part;

    if (!s->has_tokens) {
        doc_null(root, "tokens", "token counts are not available");
        return;
    }
    n = doc_section(root, "tokens", "tokens");
    doc_show(doc_count(n, "requests", "", t->requests),
             "counted in %lld ok requests", (long long)t->requests);
    part = doc_section(n, NULL, "prompt");
    add_sum(part, "prompt", "counted", &t->prompt);
    add_sum(part, "prompt_asked", "requested", &t->prompt_asked);
    add_sum(part, "cached", "cached", &t->cached);
    add_ratio(part, DOC_SHARE, "cached_share", "share", t->cached.sum,
              tokens_cached_of(t));
    doc_show_if(
        doc_sep(doc_count(part, "cached_of", "", tokens_cached_of(t)), " of "),
        tokens_cached_of(t) > 0);
    part = doc_section(n, NULL, "output");
    add_sum(part, "output", "counted", &t->output);
    add_sum(part, "output_asked", "requested", &t->output_asked);
    add_sum(part, "reasoning", "reasoning", &t->reasoning);
    part =
        doc_section(n, "by_source",
                    tokens_have_output(t) ? "source of output counts" : NULL);
    for (int i = 0; i < TOKENS_SOURCE_COUNT; i++) {
        const char *name = token_source_name((enum token_source)i);

        if (t->source[i] > 0)
            doc_count(part, name, name, t->source[i]);
    }
    doc_bool(n, "is_mixed", NULL, tokens_are_mixed(t));
    if (tokens_are_mixed(t))
        doc_line(part, DOC_PLAIN, "MIXED: the counts have different sources");
    part = doc_section(n, "by_finish",
                       t->finish[FINISH_NONE] == t->requests ? NULL
                                                             : "finish reason");
    for (int i = 0; i < FINISH_COUNT; i++) {
        const char *name = finish_name((enum finish)i);

        if (t->finish[i] > 0)
            doc_count(part, name, name, t->finish[i]);
    }
    add_streams(n, t);
}

void run_doc_answers(struct doc_node *root, const struct summary *s)
{
    const struct quality *q = &s->quality;
    struct doc_node *n;

    add_tokens(root, s);
    add_reference(root, &s->outlen);
    if (q->checked > 0) {
        n = doc_section(root, "quality", "quality");
        doc_bounds(doc_track(doc_share(n, "share", "", q->share), DOC_HIGHER),
                   q->ci95);
        doc_range(n, "share_ci95", "95% interval", DOC_SHARE, q->ci95);
        doc_count(n, "passed", "passed", q->passed);
        doc_sep(doc_unit(doc_count(n, "checked", "", q->checked),
                         " checked answers"),
                " of ");
    } else {
        doc_null(root, "quality", "no answer was checked");
    }
    n = doc_list(root, "notes", "WARNING");
    for (size_t i = 0; i < s->notes.len; i++) {
        const struct note *note = &s->notes.list[i];
        struct doc_node *row = doc_row(n);

        doc_text(row, "name", "", note->name);
        doc_sep(doc_count(row, "count", "", note->count), ": ");
        doc_sep(doc_count(row, "of", "", note->of), " of ");
        doc_sep(doc_show(doc_share(row, "share", "", note->share), "(%.4g%%)",
                         100 * note->share),
                " ");
        doc_sep(doc_text(row, "text", "", note->text), ": ");
    }
}

/* ---- steady state ---- */

static void add_in_flight(struct doc_node *in, const struct load_judgement *l)
{
    const struct overload *v = &l->overload;
    struct doc_node *n;

    if (!l->has_flight) {
        doc_null(in, "in_flight", NULL);
        return;
    }
    n = doc_section(in, "in_flight", "in flight");
    doc_number(n, "mean", "mean", l->in_flight);
    doc_number(n, "first_tenth", "first tenth of the window", l->first);
    doc_number(n, "last_tenth", "last tenth", l->last);
    doc_count(n, "blocks", NULL, (int64_t)v->blocks);
    doc_number(n, "trend_p", NULL, v->p);
    doc_bool(n, "rising", NULL, v->is_rising);
    doc_number(n, "growth", NULL, v->growth);
    doc_number(n, "rise", NULL, v->rise);
    doc_number(n, "explained", NULL, v->explained);
    doc_number(n, "chance", NULL, v->chance);
    doc_number(n, "arrivals", NULL, v->arrivals);
    doc_missing_if(doc_range(n, "growth_ci95", NULL, DOC_NUMBER, v->ci95),
                   !v->has_ci95, "n too small");
}

static void add_little(struct doc_node *in, const struct load_judgement *l)
{
    struct doc_node *n;

    if (!l->has_little) {
        doc_null(in, "little", NULL);
        return;
    }
    n = doc_section(in, "little", l->little.holds ? NULL : "Little's law");
    doc_share(n, "off", "off by", l->little.off);
    doc_number(n, "in_flight", "in flight", l->in_flight);
    doc_number(n, "expected", "rate x time", l->little.expected);
    doc_bool(n, "holds", NULL, l->little.holds);
    doc_line(n, DOC_PLAIN,
             "the load was not steady at the start or end of the window");
}

static void add_warmup(struct doc_node *in, const struct summary *s)
{
    const struct warmup_found *w = &s->steady.warmup;
    struct doc_node *n = doc_section(in, "warmup", "warm-up");

    doc_text(n, "method", NULL, "MSER-5");
    doc_text(n, "measure", NULL, measure_name(s->steady.warmup_by));
    doc_brief(doc_unless(n, DOC_SECONDS, "found_s", "estimated need (MSER-5)",
                         w->found_s, !w->is_found,
                         w->why ? w->why : "not known"),
              w->why);
    doc_show_if(doc_seconds(n, "asked_s", "configured", s->warmup_s),
                w->is_found);
    doc_share(n, "mean_shift", NULL, w->shift);
    doc_unless(n, DOC_SECONDS, "suggested_s", NULL, w->suggested_s,
               w->suggested_s <= 0, NULL);
    if (w->suggested_s > 0)
        doc_line(n, DOC_WARNING,
                 "the window begins too early, which changes its mean %s by "
                 "%.3g%%: use --warmup %.3gs",
                 measure_name(s->steady.warmup_by), 100 * w->shift,
                 w->suggested_s);
}

/* The means of both halves: of a measure, in ns, or of the number in
 * flight. */
static void add_halves(struct doc_node *n, const struct halves *h, bool is_ns)
{
    enum doc_kind kind = is_ns ? DOC_NS : DOC_NUMBER;

    if (h->why) {
        doc_null(n, "drifts", h->why);
        return;
    }
    doc_sep(doc_value(n, kind, is_ns ? "first_ms" : "first", "first half",
                      h->drift.first),
            ": ");
    doc_value(n, kind, is_ns ? "second_ms" : "second", "second half",
              h->drift.second);
    doc_signed(doc_value(n, kind, is_ns ? "difference_ms" : "difference",
                         "difference", h->drift.difference.value));
    doc_sep(doc_signed(doc_share(n, "relative", "", h->drift.relative)), " = ");
    doc_signed(doc_range(n, is_ns ? "interval_ms" : "interval", "99% interval",
                         kind, h->drift.difference.range));
    doc_number(n, "confidence", NULL, STEADY_CONFIDENCE);
    doc_count(n, "blocks", NULL, (int64_t)h->blocks);
    doc_bool(n, "drifts", NULL, h->is_drifting);
    if (h->is_drifting)
        doc_line(n, DOC_WARNING,
                 "%s is not steady: the two halves of the window differ",
                 is_ns ? "the latency" : "the number in flight");
}

/* The main measure is shown in any case, the others if they drift. */
static void add_all_halves(struct doc_node *in, const struct steady *st)
{
    const struct steady_measure *main = &st->measures[0];
    struct doc_node *n = doc_section(in, "halves", "halves of the window");
    struct doc_node *list = doc_list(in, "measures", "");

    if (!main->halves.why)
        doc_textf(n, NULL, "", "mean %s", measure_name(main->measure));
    add_halves(n, &main->halves, true);
    for (size_t i = 0; i < st->n_measures; i++) {
        const struct steady_measure *m = &st->measures[i];
        struct doc_node *row =
            doc_show_if(doc_row(list), i > 0 && m->halves.is_drifting);

        doc_show(doc_text(row, "measure", "", measure_name(m->measure)),
                 "halves of the window: mean %s", measure_name(m->measure));
        add_halves(row, &m->halves, true);
    }
    n = doc_show_if(doc_section(in, "in_flight_halves", "halves of the window"),
                    st->in_flight.is_drifting);
    doc_text(n, NULL, "", "mean number in flight");
    add_halves(n, &st->in_flight, false);
}

static void add_cold(struct doc_node *in, const struct steady *st)
{
    const struct cold *c = &st->cold;
    struct doc_node *n =
        doc_section(in, "cold", c->ok > 0 ? "requests in the warm-up" : NULL);

    doc_count(n, "requests", "", c->requests);
    doc_count(n, "ok", "ok", c->ok);
    doc_textf(n, NULL, "", "%s", measure_name(st->measures[0].measure));
    doc_sep(doc_ns(n, "mean", "mean", c->mean_ns), " ");
    doc_ns(n, "p99", "p99", (double)c->p99_ns);
    doc_ns(n, "max", NULL, (double)c->max_ns);
    doc_ns(n, "mean_with", NULL, c->mean_with_ns);
    doc_ns(n, "p99_with", NULL, (double)c->p99_with_ns);
    doc_sep(doc_signed(doc_unless(n, DOC_SHARE, "mean_shift",
                                  "if they counted, the mean would change by",
                                  c->mean_shift, !c->has_shift, "n too small")),
            "; ");
    doc_signed(doc_unless(n, DOC_SHARE, "p99_shift", "p99 by", c->p99_shift,
                          !c->has_p99_shift, "n too small"));
}

static void add_within(struct doc_node *in, const struct steady *st)
{
    struct doc_node *table = doc_table(
        in, "within_run",
        "intervals from this run alone; near capacity they are too narrow for "
        "p99: use --trials");

    for (size_t i = 0; i < st->n_within; i++) {
        const struct within *w = &st->within[i];
        struct doc_node *row = doc_show_if(doc_row(table), w->n > 0);
        bool is_known = w->section.verdict == SECTION_KNOWN;
        bool is_beyond = w->section.verdict == SECTION_BEYOND;

        doc_text(row, "measure", "measure", measure_name(w->measure));
        doc_text(row, "quantile", "quantile", w->name);
        doc_ns(row, "value", "value", (double)w->value_ns);
        doc_brief(doc_missing_if(doc_range(row, "ci95_ms", "95% interval",
                                           DOC_NS, w->section.quantile.range),
                                 !is_known,
                                 is_beyond ? "beyond failures" : "n too small"),
                  is_beyond ? "failures" : "too few");
        doc_count(row, "n", "n", w->n);
        doc_unless(row, DOC_NUMBER, "n_effective", "independent samples",
                   w->n_effective, w->n_effective <= 0, "not known");
    }
}

/* What study.until asks for, and what the run reached. */
static void add_until(struct doc_node *root, const struct summary *s)
{
    const struct precision_found *p = &s->precision;
    struct doc_node *n;

    if (!p->is_asked)
        return;
    n = doc_section(root, "until", "until");
    doc_text(n, "asked", "", s->settings->study.until);
    doc_sep(doc_show(doc_bool(n, "reached", "", p->is_reached), "%s",
                     p->is_reached ? "reached" : "not reached"),
            ": ");
    doc_brief(doc_missing_if(doc_ns(n, "value", "", p->value_ns), !p->is_known,
                             p->why),
              p->why);
    doc_show_if(doc_sep(doc_unless(n, DOC_SHARE, "half_width", "", p->half,
                                   !p->is_known, p->why),
                        " +- "),
                p->is_known);
    if (p->is_known && !p->is_reached)
        doc_seconds(n, "needed_s", "a window of about",
                    s->window_length_s * (p->half / p->wanted) *
                        (p->half / p->wanted));
}

void run_doc_steady(struct doc_node *root, const struct summary *s)
{
    static const char *const states[] = {
        [LOAD_UNKNOWN] = "overload not judged",
        [LOAD_WITHIN] = "not overloaded",
        [LOAD_OVER] = "overloaded",
    };
    const struct load_judgement *l = &s->steady.load;
    struct doc_node *both = doc_section(root, NULL, "steady");
    struct doc_node *n;

    doc_brief(
        doc_missing_if(
            doc_show(doc_bool(both, "overloaded", "", l->state == LOAD_OVER),
                     "%s", states[l->state]),
            l->state == LOAD_UNKNOWN, l->why ? l->why : "not known"),
        states[l->state]);
    if (l->why)
        doc_sep(doc_text(both, NULL, "", l->why), ": ");
    n = doc_section(both, "steady", "");
    doc_text(n, "measure", NULL, measure_name(s->steady.measures[0].measure));
    add_in_flight(n, l);
    add_little(n, l);
    add_warmup(n, s);
    add_all_halves(n, &s->steady);
    add_cold(n, &s->steady);
    add_within(n, &s->steady);
    add_until(root, s);
}

/* ---- sessions ---- */

static void add_turns(struct doc_node *rows, const char *key, const char *label,
                      const struct turn_summary *t, bool is_streamed)
{
    struct doc_node *row = doc_section(rows, key, t->n > 0 ? label : NULL);
    const struct {
        const char *name;
        const int64_t *ns;
        bool is_present;
    } times[] = {{"ttft", t->ttft_ns, is_streamed}, {"e2e", t->e2e_ns, true}};

    doc_count(row, "turns", "turns", t->n);
    for (size_t k = 0; k < sizeof(times) / sizeof(times[0]); k++) {
        for (int i = 0; times[k].is_present && i < TURN_QUANTILES; i++) {
            char name[32];
            char title[32];

            snprintf(name, sizeof(name), "%s_%s", times[k].name,
                     turn_quantile_name[i]);
            snprintf(title, sizeof(title), "%s %s", times[k].name,
                     turn_quantile_name[i]);
            doc_ns(row, name, title, (double)times[k].ns[i]);
        }
    }
    doc_unless(row, DOC_SHARE, "cached_share", "prompt tokens cached",
               t->cached_share, t->cached_share < 0, NULL);
}

void run_doc_sessions(struct doc_node *root, const struct summary *s)
{
    const struct session_summary *c = &s->sessions;
    struct doc_node *n;
    struct doc_node *rows;

    if (!c->is_there)
        return;
    n = doc_section(root, "sessions", "sessions");
    doc_count(n, "begun", "begun", c->begun);
    doc_sep(doc_count(n, "finished", "finished", c->finished), " = ");
    doc_sep(doc_count(n, "broken", "broken", c->broken), " + ");
    doc_sep(doc_count(n, "cut", "cut by the end", c->cut), " + ");
    doc_sep(doc_text(n, NULL, "", "(whole run)"), " ");
    doc_unless(n, DOC_NUMBER, "turns_mean", "turns per session", c->turns_mean,
               c->turns_mean < 0, NULL);
    rows = doc_rows(n, NULL, "turns");
    add_turns(rows, "first", "first", &c->kinds[TURN_FIRST], s->is_streamed);
    add_turns(rows, "later", "later", &c->kinds[TURN_LATER], s->is_streamed);
}

/* ---- the server's own metrics ---- */

static void add_unknown_server(struct doc_node *n,
                               const struct server_summary *s)
{
    doc_count(n, "looks", NULL, 0);
    doc_count(n, "failed_looks", NULL, 0);
    doc_text(n, "url", NULL, s->url);
    doc_bool(n, "is_known", NULL, false);
    doc_null(n, "flavour", "the page has no metrics of a known server");
    doc_line(n, DOC_PLAIN, "not available: %s has no metrics of a known server",
             s->url);
}

void run_doc_server(struct doc_node *root, const struct summary *sum)
{
    const struct server_summary *s = &sum->server;
    const char *in_flight =
        s->present_mean >= 0 ? "in flight by the client's count (mean)" : NULL;
    const struct {
        const char *key;
        const char *label;
        double value;
        enum doc_kind kind;
    } numbers[] = {
        {"running_mean", "running (mean)", s->running_mean, DOC_NUMBER},
        {"running_max", "running (max)", s->running_max, DOC_NUMBER},
        {"waiting_mean", "waiting (mean)", s->waiting_mean, DOC_NUMBER},
        {"waiting_max", "waiting (max)", s->waiting_max, DOC_NUMBER},
        {"in_flight_mean", "in flight (mean)", s->present_mean, DOC_NUMBER},
        {"client_in_flight_mean", in_flight, s->client_mean, DOC_NUMBER},
        {"queue_mean_ms", "mean time in queue", s->queue_mean_ns * 1e-6,
         DOC_MS},
        {"cache_use_mean", NULL, s->cache_mean, DOC_SHARE},
        {"cache_use_max", "cache in use (max)", s->cache_max, DOC_SHARE},
        {"output_tokens_per_s", s->generated_per_s > 0 ? "output tokens" : NULL,
         s->generated_per_s, DOC_RATE},
        {"prompt_tokens_per_s", s->prompt_per_s > 0 ? "prompt tokens" : NULL,
         s->prompt_per_s, DOC_RATE},
        {"cached_share", "prompt tokens cached", s->cached_share, DOC_SHARE},
        {"preemptions", s->preemptions > 0 ? "preemptions" : NULL,
         s->preemptions, DOC_NUMBER},
        {"requests_per_s", NULL, s->requests_per_s, DOC_RATE},
    };
    struct doc_node *n;

    if (!s->is_there && !s->is_unknown)
        return;
    n = doc_section(root, "server", "server");
    if (!s->is_there) {
        add_unknown_server(n, s);
        return;
    }
    doc_brief(doc_missing_if(doc_text(n, "flavour", "metrics of", s->dialect),
                             !s->dialect, "not known"),
              "an unknown server");
    doc_missing_if(doc_text(n, "url", NULL, s->url), !s->url, "not known");
    doc_bool(n, "is_known", NULL, true);
    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        doc_unless(n, numbers[i].kind, numbers[i].key, numbers[i].label,
                   numbers[i].value, !(numbers[i].value >= 0), "not known");
    }
    doc_count(n, "looks", "scrapes", s->looks);
    doc_show_if(doc_count(n, "failed_looks", "failed", s->failed),
                s->failed > 0);
    doc_bool(n, "is_partial", NULL, s->is_partial);
    if (s->is_partial)
        doc_line(n, DOC_PLAIN,
                 "only the first of several servers or addresses was scraped");
}

/* ---- does the server cache? ---- */

static void add_cache_group(struct doc_node *rows, const char *key,
                            const char *label, const struct cache_group *g)
{
    struct doc_node *row = doc_section(rows, key, label);

    doc_count(row, "n", "requests", g->n);
    doc_count(row, "failed", "failed", g->failed);
    doc_unless(row, DOC_NUMBER, "output_mean", "output tokens",
               token_mean(&g->output), token_mean(&g->output) < 0, NULL);
    doc_unless(row, DOC_SHARE, "cached_share",
               "prompts cached, by the server's count", cache_group_share(g),
               cache_group_share(g) < 0, NULL);
}

static void add_cache_ratio(struct doc_node *rows, const struct cache_ratio *r)
{
    const char *name = measure_name(r->measure);
    struct doc_node *row;

    if (r->sign == CACHE_ABSENT) {
        doc_null(doc_section(rows, name, NULL), "ratio",
                 "too few answers to compare");
        return;
    }
    row = doc_section(rows, name, name);
    doc_ns(row, "new_p50", "p50 new", (double)r->median_ns[CACHE_NEW]);
    doc_ns(row, "repeated_p50", "p50 repeated",
           (double)r->median_ns[CACHE_REPEATED]);
    doc_number(row, "ratio", "ratio", r->ratio);
    doc_range(row, "ratio_ci95", "95% interval", DOC_NUMBER, r->ci95);
    doc_show(
        doc_missing_if(doc_bool(row, "faster", "", r->sign == CACHE_FASTER),
                       r->sign == CACHE_OPEN, NULL),
        "%s", r->sign == CACHE_FASTER ? "faster" : "");
}

void run_doc_cache(struct doc_node *root, const struct summary *s)
{
    const struct cache_check *c = &s->cache;
    struct doc_node *n;
    struct doc_node *rows;

    if (!c->is_there)
        return;
    n = doc_section(root, "cache_check", "cache");
    doc_show_if(
        doc_show(doc_text(n, "finding", "", cache_finding_name(c->finding)),
                 "UNDECIDED:"),
        c->finding == CACHE_UNDECIDED);
    doc_sep(doc_text(n, "why", "", c->why), " ");
    doc_line(n, DOC_PLAIN,
             "half of the requests repeat one prompt, the others are new and "
             "of the same length");
    doc_text(n, "judged_by", "judged by",
             measure_name(c->ratio[c->by].measure));
    doc_number(n, "limit", "limit", CACHE_LIMIT);
    rows = doc_rows(n, NULL, "prompts");
    add_cache_group(rows, "new", "new", &c->group[CACHE_NEW]);
    add_cache_group(rows, "repeated", "repeated", &c->group[CACHE_REPEATED]);
    rows = doc_rows(n, "measures", "measure");
    for (int m = 0; m < CACHE_MEASURES; m++)
        add_cache_ratio(rows, &c->ratio[m]);
}

/* ---- MLPerf ---- */

static void add_proof(struct doc_node *list, const struct mlperf_proof *p)
{
    struct doc_node *n = doc_row(list);

    doc_show(doc_number(n, "percentile", "early stopping,", p->percentile),
             "p%.9g", 100 * p->percentile);
    doc_sep(doc_text(n, "measure", "of", measure_name(p->measure)), " ");
    if (p->limit_ns == 0)
        doc_sep(doc_show_if(doc_ns(n, "estimate", "", (double)p->estimate_ns),
                            p->is_beside && p->is_proved),
                ": ");
    doc_sep(doc_count(n, "n", "queries", p->n), ": ");
    doc_show_if(doc_count(n, "over",
                          p->limit_ns > 0 ? "over the limit" : "slower",
                          p->over),
                p->limit_ns > 0 || p->is_proved);
    if (p->limit_ns > 0) {
        doc_sep(doc_ns(n, "limit", "", (double)p->limit_ns), " of ");
        doc_show_if(doc_count(n, "more_needed",
                              "queries within the limit still needed",
                              p->more_needed),
                    !p->is_proved);
    }
    doc_sep(doc_show(doc_bool(n, "proved", "", p->is_proved), "%s",
                     p->is_proved                     ? "proved"
                     : p->limit_ns > 0                ? "not proved"
                     : p->estimate_ns == HIST_TOO_FEW ? "too few queries"
                                                      : "too few ok queries"),
            ": ");
}

static void add_accuracy(struct doc_node *in, const struct mlperf_accuracy *a)
{
    struct doc_node *n = doc_section(in, "accuracy_run", "accuracy run");

    doc_bool(n, "found", NULL, a->is_found);
    doc_brief(doc_missing_if(doc_text(n, "dir", "", a->dir), !a->is_found,
                             a->why[0] ? a->why : "no accuracy run was found"),
              a->hash[0] ? "none" : "not looked for");
    if (a->why[0])
        doc_text(n, NULL, "", a->why);
    doc_missing_if(doc_count(n, "answers", "answers", a->answers), !a->is_found,
                   NULL);
    doc_missing_if(doc_count(n, "checked", "checked", a->checked), !a->is_found,
                   NULL);
    doc_unless(n, DOC_SHARE, "quality", "quality", a->share, a->checked == 0,
               NULL);
    doc_text(n, "settings_hash", "settings", a->hash[0] ? a->hash : NULL);
}

void run_doc_mlperf(struct doc_node *root, const struct summary *s)
{
    const struct mlperf *m = &s->mlperf;
    struct doc_node *n;
    struct doc_node *list;

    if (!m->is_there)
        return;
    n = doc_section(root, "mlperf", "mlperf");
    doc_text(n, "metric", "", m->metric);
    if (m->is_rate)
        doc_sep(doc_rate(n, "result_per_s", "", m->rate_rps), ": ");
    else
        doc_sep(doc_ns(n, "result", "", (double)m->proofs[0].estimate_ns),
                ": ");
    list = doc_list(n, "early_stopping", "");
    for (size_t i = 0; i < m->n_proofs; i++)
        add_proof(list, &m->proofs[i]);
    if (!s->settings->data.accuracy)
        add_accuracy(n, &m->accuracy);
    doc_text(n, "division", NULL, m->n_breaks == 0 ? "closed" : "open");
    doc_line(n, DOC_PLAIN,
             m->n_breaks == 0
                 ? "eligible for the closed division"
                 : "open division; not eligible for the closed one because:");
    list = doc_list(n, "breaks", "");
    for (size_t i = 0; i < m->n_breaks; i++)
        doc_line(list, DOC_PLAIN, "%s", m->breaks[i]);
}

/* ---- memory and energy ---- */

void run_doc_metered(struct doc_node *root, const struct summary *s)
{
    const struct metered *m = &s->metered;
    struct doc_node *n;

    if (!m->is_asked)
        return;
    if (m->has_memory) {
        n = doc_section(root, NULL, "memory");
        doc_count(n, "peak_memory_bytes", NULL, m->peak_bytes);
        doc_value(n, DOC_BYTES, NULL, "server's peak", (double)m->peak_bytes);
        doc_line(n, DOC_PLAIN,
                 "measuring it takes CPU time: do not use this run's times");
    }
    if (!m->has_energy) {
        if (m->note[0]) {
            n = doc_section(root, NULL, "energy");
            doc_null(n, "energy", m->note);
            doc_line(n, DOC_PLAIN, "not known: %s", m->note);
        }
        return;
    }
    n = doc_section(root, "energy", "energy");
    doc_digits(
        doc_unit(doc_number(n, "joules", "in the window", m->joules), " J"), 6);
    doc_unit(doc_number(n, "watts", "mean power", m->watts), " W");
    doc_unit(
        doc_track(doc_unless(n, DOC_NUMBER, "joules_per_good_request",
                             "per good request", m->joules_per_good,
                             m->joules_per_good < 0, "no request was good"),
                  DOC_LOWER),
        " J");
    doc_unit(doc_unless(n, DOC_NUMBER, "joules_per_output_token",
                        "per output token", m->joules_per_token,
                        m->joules_per_token < 0,
                        "token counts are not available"),
             " J");
    doc_unit(doc_unless(n, DOC_NUMBER, "co2_g", "CO2", m->co2_g, m->co2_g < 0,
                        "no factor was given"),
             " g");
}
