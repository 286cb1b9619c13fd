/* A run as llm-d benchmark report 0.2, in JSON.  The format has one latency per
 * request that succeeded: these are the times of ok requests from due.  What
 * cannot be trusted is withheld, as from trackers. */
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "analyzer/report/doc.h"
#include "analyzer/report/render/render_trackers.h"
#include "common/base/buf.h"
#include "common/base/hash.h"
#include "common/config.h"
#include "common/text/json.h"

#define MAX_JSON ((size_t)16 << 20)

static const struct doc_node *number_at(const struct doc_node *in,
                                        const char *path)
{
    const struct doc_node *n = doc_at(in, path);

    return n && n->type == DOC_VALUE && !n->is_missing && n->kind != DOC_TEXT
               ? n
               : NULL;
}

/* Copy a value if it is there; returns whether it is. */
static bool put(json_t *object, const char *key, const struct doc_node *in,
                const char *path)
{
    const struct doc_node *n = number_at(in, path);

    if (n)
        json_object_set_new(object, key, doc_value_to_json(n));
    return n != NULL;
}

/* The keys of a distribution in our words and in theirs. */
static void put_latency(json_t *latency, const char *name, const char *units,
                        const struct doc_node *of)
{
    static const char *const keys[][2] = {
        {"mean", "mean_ms"}, {"p50", "p50_ms"}, {"p90", "p90_ms"},
        {"p95", "p95_ms"},   {"p99", "p99_ms"}, {"max", "max_ms"}};
    json_t *statistics;

    if (!of || !of->label || !number_at(of, "mean_ms"))
        return; /* or nothing was streamed */
    statistics = json_pack("{ss}", "units", units);
    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
        put(statistics, keys[i][0], of, keys[i][1]);
    for (const struct doc_node *n = of->first; n; n = n->next) {
        if (n->alias && strcmp(n->alias, "p999_ms") == 0 && !n->is_missing)
            json_object_set_new(statistics, "p99p9", doc_value_to_json(n));
    }
    json_object_set_new(latency, name, statistics);
}

/* A number of which only the mean is known. */
static void put_mean(json_t *object, const char *key, const char *units,
                     const struct doc_node *root, const char *path)
{
    json_t *statistics = json_pack("{ss}", "units", units);

    if (put(statistics, "mean", root, path))
        json_object_set(object, key, statistics);
    json_decref(statistics);
}

static json_t *requests_of(const struct doc_node *root)
{
    json_t *requests = json_object();

    put(requests, "total", root, "requests.issued");
    put(requests, "failures", root, "requests.failed");
    put_mean(requests, "input_length", "count", root, "tokens.prompt_mean");
    put_mean(requests, "output_length", "count", root, "tokens.output_mean");
    return requests;
}

static json_t *results_of(const struct doc *d)
{
    static const char *const latencies[][3] = {
        {"time_to_first_token", "ms", "measures.ttft.ok"},
        {"time_per_output_token", "ms/token", "measures.tpot.ok"},
        {"inter_token_latency", "ms/token", "measures.itl"},
        {"request_latency", "ms", "measures.e2e.ok"}};
    const struct doc_node *root = doc_root(d);
    json_t *latency = json_object();
    json_t *throughput = json_object();

    if (doc_withheld(d)) {
        json_decref(latency);
        json_decref(throughput);
        return json_object();
    }
    for (size_t i = 0; i < sizeof(latencies) / sizeof(latencies[0]); i++)
        put_latency(latency, latencies[i][0], latencies[i][1],
                    doc_at(root, latencies[i][2]));
    put_mean(throughput, "output_token_rate", "tokens/s", root,
             "output_tokens_per_s");
    put_mean(throughput, "request_rate", "queries/s", root, "throughput_rps");
    return json_pack("{s{s{sososo}}}", "request_performance", "aggregate",
                     "requests", requests_of(root), "latency", latency,
                     "throughput", throughput);
}

/* ---- what ran ---- */

static json_t *length_of(const struct doc_node *root, const char *path)
{
    const struct doc_node *n = number_at(root, path);

    return n ? json_pack("{ssso}", "distribution", "other", "value",
                         doc_value_to_json(n))
             : NULL;
}

static bool has_text(const struct doc_node *root, const char *path)
{
    const struct doc_node *n = doc_at(root, path);

    return n && n->text && !n->is_missing;
}

/* NULL: the length of prompts, which it requires, is not known. */
static json_t *scenario_of(const struct doc_node *root)
{
    json_t *input = length_of(root, "tokens.prompt_mean");
    const char *source = has_text(root, "data.file")     ? "sampled"
                         : has_text(root, "data.source") ? "random"
                                                         : "unknown";
    json_t *load;

    if (!input)
        return NULL;
    load = json_pack("{sssssssoso*}", "tool", "tailgate", "tool_version",
                     TAILGATE_VERSION, "source", source, "input_seq_len", input,
                     "output_seq_len",
                     length_of(root, "tokens.output_asked_mean"));
    if (has_text(root, "scenario") &&
        strcmp(doc_at(root, "scenario")->text, "server") == 0)
        put(load, "rate_qps", root, "offered_rps");
    return json_pack("{s{s{ss}sos{}}}", "load", "metadata", "schema_version",
                     "0.0.1", "standardized", load, "native");
}

/* The same recording has the same id, whichever SLO it is judged by. */
static void make_uid(const struct doc_node *root, char uid[static SHA256_TEXT])
{
    static const char *const parts[] = {"name", "started", "window",
                                        "measures"};
    json_t *json = doc_to_json(root->doc);
    struct buf text;

    buf_init(&text, MAX_JSON);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        json_print_value(json_object_get(json, parts[i]), &text);
    sha256_bytes(buf_text(&text), text.len, uid);
    buf_fini(&text);
    json_decref(json);
}

static json_t *run_of(const struct doc *d)
{
    const struct doc_node *root = doc_root(d);
    const struct doc_node *name = doc_at(root, "name");
    const struct doc_node *verdict = doc_at(root, "verdict");
    const struct doc_node *length = number_at(root, "window.length_s");
    const char *withheld = doc_withheld(d);
    char uid[SHA256_TEXT];
    json_t *run;
    struct buf text;

    make_uid(root, uid);
    run = json_pack("{ss}", "uid", uid);
    if (has_text(root, "started") && length)
        json_object_set_new(run, "time",
                            json_pack("{ssso}", "start",
                                      doc_at(root, "started")->text, "duration",
                                      json_sprintf("PT%.3fS", length->number)));
    buf_init(&text, MAX_JSON);
    buf_addf(&text, "%s%s", name && name->text ? name->text : "",
             name && name->text && name->text[0] ? ": " : "");
    if (verdict && verdict->type == DOC_VALUE)
        doc_show_value(verdict, &text);
    buf_addf(&text, "%s%s", withheld ? "; no numbers: " : "",
             withheld ? withheld : "");
    json_object_set_new(run, "description",
                        json_bytes(buf_text(&text), text.len));
    buf_fini(&text);
    return run;
}

void doc_render_llm_d(const struct doc *d, struct buf *out)
{
    json_t *scenario = scenario_of(doc_root(d));
    json_t *json = json_pack("{ssso}", "version", "0.2", "run", run_of(d));

    if (scenario)
        json_object_set_new(json, "scenario", scenario);
    json_object_set_new(json, "results", results_of(d));
    json_print(json, out);
    json_decref(json);
}
