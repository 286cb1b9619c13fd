/* The section of conditions: load, target, client, and what
 * someone else would need to repeat the run. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyzer/html/html_text.h"
#include "analyzer/html/page.h"
#include "analyzer/html/run_page.h"
#include "analyzer/tally/summary.h"
#include "analyzer/verdict/checklist.h"
#include "common/base/clk.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/text/redact.h"
#include "common/text/units.h"
#include "common/wire/api_names.h"

#define MAX_TEXT 4096

static void begin(struct page *p, const char *title)
{
    page_put(p, "<div class=\"g\"><h3>");
    page_text(p, title);
    page_put(p, "</h3><dl>");
}

static void end(struct page *p)
{
    page_put(p, "</dl></div>\n");
}

/* Nothing, if the value is not known.  Without a name: one more value. */
static void put(struct page *p, const char *name, const char *value)
{
    if (!value || !value[0])
        return;
    if (name) {
        page_put(p, "<dt>");
        page_text(p, name);
        page_put(p, "</dt>");
    }
    page_put(p, "<dd>");
    page_text(p, value);
    page_put(p, "</dd>");
}

__attribute__((format(printf, 3, 4))) static void
putf(struct page *p, const char *name, const char *fmt, ...)
{
    va_list ap;
    char *text;

    va_start(ap, fmt);
    text = xvasprintf(fmt, ap);
    va_end(ap);
    put(p, name, text);
    free(text);
}

/* ---- the load ---- */

static void put_load(struct page *p, const struct summary *s)
{
    struct buf line;

    begin(p, "Load");
    buf_init(&line, MAX_TEXT);
    settings_describe_load(&s->settings->load, &line);
    putf(p, "asked for", "%.*s", (int)strcspn(buf_text(&line), "\n"),
         buf_text(&line));
    buf_fini(&line);
    for (size_t i = 0; i < s->slo.len; i++)
        put(p, i == 0 ? "objective" : NULL, s->slo.terms[i].text);
    for (size_t i = 0; i < s->n_classes; i++)
        put(p, i == 0 ? "classes" : NULL, s->classes[i].name);
    end(p);
}

static void put_prompts(struct page *p, const struct summary *s)
{
    const struct data_settings *d = &s->settings->data;
    const struct tokens *t = &s->tokens;
    char a[SHOW_TEXT];

    if (!s->has_data && !s->has_trace && s->quality.checked == 0)
        return;
    begin(p, "Prompts and answers");
    if (s->has_trace)
        putf(p, "trace", "%s, %s rows",
             s->trace.format ? s->trace.format : "of unknown format",
             show_count(s->trace.rows, a));
    if (s->has_data && s->data.sha256)
        putf(p, "data", "%s, %s samples, sha256 %.12s…",
             d->file ? d->file : "a file", show_count(s->data.samples, a),
             s->data.sha256);
    else if (s->has_data && d->input_tokens)
        putf(p, "prompts", "%s tokens, %s%s", d->input_tokens,
             s->data.source ? s->data.source : "synthetic",
             d->unique == UNIQUE_FALSE ? ", sent unchanged" : "");
    if (d->output_tokens)
        putf(p, "answers", "%s tokens asked for", d->output_tokens);
    if (t->prompt.n > 0)
        putf(p, "prompts, counted", "%s tokens on average",
             show_number((double)t->prompt.sum / (double)t->prompt.n, a));
    if (t->output.n > 0)
        putf(p, "answers, counted", "%s tokens on average",
             show_number((double)t->output.sum / (double)t->output.n, a));
    if (s->quality.checked > 0)
        putf(p, "quality", "%s answers checked",
             show_count(s->quality.checked, a));
    else
        put(p, "quality", "not checked");
    end(p);
}

/* ---- the target ---- */

static void put_target(struct page *p, const struct summary *s)
{
    const struct settings *set = s->settings;
    const struct target_settings *t = &set->target;
    char *url = redact_url(settings_url(set));
    char span[UNITS_TEXT];

    begin(p, "Target");
    if (t->urls.len > 1)
        putf(p, "URL", "%s and %zu more in turn", url, t->urls.len - 1);
    else
        put(p, "URL", url);
    free(url);
    putf(p, "API", "%s%s", api_names[t->api],
         !api_can_stream((enum api_kind)t->api) ? ""
         : s->is_streamed                       ? ", streaming"
                                                : ", not streaming");
    put(p, "model", t->model);
    put(p, "version", t->model_version);
    put(p, "timeout", units_show_span(t->timeout_ns, span));
    if (set->has_stub)
        put(p, "server", "the stub of tailgate");
    end(p);
    if (set->conditions.keys.len == 0 && !(set->cost.usd_per_hour > 0))
        return;
    begin(p, "Server, as declared");
    for (size_t i = 0; i < set->conditions.keys.len; i++)
        put(p, set->conditions.keys.items[i], set->conditions.values.items[i]);
    if (set->cost.usd_per_hour > 0)
        putf(p, "cost", "$%.4g per hour and replica", set->cost.usd_per_hour);
    end(p);
}

/* ---- the client ---- */

static void put_client(struct page *p, const struct run_page *r)
{
    const struct summary *s = r->s;
    const struct manifest *m = r->manifest;
    const char *cpu = manifest_text(m, "environment", "cpu_model");
    const char *memory = manifest_text(m, "environment", "memory");
    int64_t cpus = manifest_count(m, "environment", "cpus");
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];

    begin(p, "Client");
    put(p, "host", manifest_text(m, "environment", "host"));
    if (cpus > 0)
        putf(p, "CPU", "%s%s%lld CPU%s", cpu ? cpu : "", cpu ? ", " : "",
             (long long)cpus, cpus == 1 ? "" : "s");
    else
        put(p, "CPU", cpu);
    if (memory && strstr(memory, " kB"))
        putf(p, "memory", "%s GiB",
             show_number(strtod(memory, NULL) / (1 << 20), a));
    put(p, "kernel", manifest_text(m, "environment", "kernel"));
    put(p, "clock", manifest_text(m, "environment", "clock_source"));
    if (s->threads > 0)
        put(p, "threads", show_count(s->threads, a));
    if (s->calibration.standing == CALIBRATED &&
        s->calibration.of.max_rate_rps > 0)
        putf(p, "calibrated", "up to %s/s",
             show_number(s->calibration.of.max_rate_rps, a));
    else
        put(p, "calibrated", "no: tailgate calibrate measures its limit");
    end(p);

    begin(p, "Path");
    putf(p, "transport", "%s%s%s", s->transport ? s->transport : "not recorded",
         s->settings->target.http2 ? ", HTTP/2" : "",
         s->settings->target.insecure ? ", certificate not verified" : "");
    put(p, "TLS", s->tls);
    put(p, "round trip",
        s->rtt_floor_ns > 0 ? show_ns((double)s->rtt_floor_ns, a)
                            : "not recorded");
    if (s->segments > 0)
        putf(p, "resent", "%s of %s segments", show_count(s->retransmits, a),
             show_count(s->segments, b));
    end(p);

    begin(p, "Recording");
    put(p, "directory", s->dir);
    clk_format_utc(manifest_start_realtime_ns(m), "%Y-%m-%d %H:%M:%S UTC", a,
                   sizeof(a));
    put(p, "started", a);
    put(p, "tailgate", manifest_text(m, NULL, "tailgate"));
    end(p);
}

/* ---- what a repetition needs ---- */

static void put_checklist(struct page *p, const struct run_page *r)
{
    struct checklist *c = xcalloc(1, sizeof(*c));

    checklist_make(c, r->s, r->manifest);
    page_put(p,
             "<div class=\"chart\"><div class=\"aside\"><h3>Can this run "
             "be repeated?</h3><p class=\"cap\">Settings, target and client. ");
    page_textf(p, "%zu of %zu things are known.", c->len - c->missing, c->len);
    page_put(p, "</p></div><ul class=\"list\">");
    for (size_t i = 0; i < c->len; i++) {
        const struct checklist_item *item = &c->items[i];

        page_putf(p, "<li><span class=\"%s\">",
                  item->is_present ? "i-pass" : "i-note");
        page_icon(p, item->is_present ? ICON_OK : ICON_NOTE, "");
        page_put(p, "</span><span>");
        page_text(p, item->name);
        page_put(p, "</span><span class=\"d\">");
        page_text(p, item->text);
        page_put(p, "</span></li>\n");
    }
    page_put(p, "</ul></div>\n");
    free(c);
}

void run_conditions_put(struct page *p, const struct run_page *r)
{
    page_section_begin(p, "conditions", "Conditions", NULL, false);
    page_section_body(p);
    page_put(p, "<div class=\"chart\"><div class=\"aside\"><h3>Load, target "
                "and client</h3><p class=\"cap\">Two runs can be compared if "
                "they differ in only one of these.</p></div><div "
                "class=\"kv\">");
    put_load(p, r->s);
    put_target(p, r->s);
    put_prompts(p, r->s);
    put_client(p, r);
    page_put(p, "</div></div>\n");
    put_checklist(p, r);
    page_section_end(p);
}
