/* Prometheus itself: it scrapes a run, and its quantiles agree with the report.
 * And the dashboard of packaging/grafana: its queries are PromQL, and every
 * series in them exists. */
#include <jansson.h>
#include <math.h>
#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "tests/support/httpget.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"
#include "tests/support/tool.h"
#include "tests/support/watched.h"

#define MAX_TEXT ((size_t)8 << 20)

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)

static bool has_tool(const char *path)
{
    if (access(path, X_OK) == 0)
        return true;
    print_message("SKIPPED: no %s here (scripts/setup live)\n", path);
    return false;
}

/* ---- Prometheus ---- */

static pid_t start_prometheus(const char *target)
{
    char *config = keepf("global: {scrape_interval: 1s}\n"
                         "scrape_configs:\n"
                         "- job_name: tailgate\n"
                         "  static_configs: [{targets: ['%.*s']}]\n",
                         (int)strcspn(target + 7, "/"), target + 7);
    char *path = tmpdir_write("prometheus.yml", config, strlen(config));

    return tool_start(TOOL("prometheus", keepf("--config.file=%s", path),
                           keepf("--storage.tsdb.path=%s", tmpdir_path("tsdb")),
                           "--web.listen-address=127.0.0.1:0"),
                      tmpdir_path("prometheus.log"));
}

/* Its address, once it listens. */
static char *prometheus_url(void)
{
    static const char says[] = "msg=\"Listening on\" address=";

    for (int i = 0; i < 300; i++) {
        char *log = access(tmpdir_path("prometheus.log"), F_OK) == 0
                        ? watched_text(tmpdir_path("prometheus.log"))
                        : NULL;
        char *at = log ? strstr(log, says) : NULL;

        if (at)
            return keepf("http://%.*s", (int)strcspn(at + strlen(says), " \n"),
                         at + strlen(says));
        clk_sleep_ns(100 * NS_PER_MS);
    }
    fail_msg("Prometheus does not listen");
    return NULL;
}

/* The value of an instant query; NAN: nothing yet. */
static double ask(const char *url, const char *query)
{
    char *path = keepf("/api/v1/query?query=%s", query);
    int fd = http_connect(url);
    struct http_reply r;
    json_t *json;
    json_t *value;
    double x = NAN;

    http_send(fd, &(const struct http_request){
                      .path = path, .headers = "Host: localhost\r\n"});
    r = http_read(fd);
    close(fd);
    json = json_loads(buf_text(&r.body), 0, NULL);
    value = json_array_get(
        json_object_get(
            json_array_get(
                json_object_get(json_object_get(json, "data"), "result"), 0),
            "value"),
        1);
    if (json_is_string(value))
        x = strtod(json_string_value(value), NULL);
    json_decref(json);
    http_reply_fini(&r);
    return x;
}

/* The bucket of a value: from which edge to which. */
static int bucket_of(const char *page, double value)
{
    static const char start[] = "tailgate_request_duration_seconds_bucket{";
    int n = 0;

    for (const char *p = page; (p = strstr(p, start)); p++) {
        const char *le = strstr(p, "le=\"");

        assert_non_null(le);
        if (strncmp(le + 4, "+Inf", 4) == 0 || value <= strtod(le + 4, NULL))
            return n;
        n++;
    }
    return n;
}

/* It sees the last state while the run lingers, so that all is counted. */
TEST(its_quantile_agrees_with_the_report)
{
    char *dir = tmpdir_path("scraped");
    char *asked;
    double p99 = NAN;
    double count;
    double reported;
    struct proc stub;
    char *stub_url;
    struct proc p;
    char *url;
    char *page;
    json_t *json;
    pid_t server;

    if (!has_tool("/usr/bin/prometheus"))
        skip();
    stub = stub_start(
        ARGS("stub", "--service", "lognormal 20ms 15ms", "--replicas", "32"),
        &stub_url);
    p = proc_start(ARGS("run", stub_url, "--rate", "200", "-d", "5s",
                        "--warmup", "0s", "--slo", "e2e p99 < 150ms", "-o", dir,
                        "--listen", "127.0.0.1:0", "--listen-linger", "60s"));
    url = watched_url(&p);
    server = start_prometheus(url);
    asked = prometheus_url();
    for (int i = 0; i < 300; i++) {
        page = watched_get(url, "/metrics", NULL, 200);
        if (strstr(page, "phase=\"over\"} 1\n"))
            break;
        clk_sleep_ns(100 * NS_PER_MS);
    }
    json = load_summary(dir);
    for (int i = 0;
         i < 100 && !(ask(asked, "max(tailgate_phase{phase=\"over\"})") == 1);
         i++)
        clk_sleep_ns(100 * NS_PER_MS);
    count = ask(asked, "sum(tailgate_request_duration_seconds_count)");
    assert_true(count == number_at(json, "requests.scheduled"));
    p99 = ask(asked, "histogram_quantile(0.99,sum%20by(le)("
                     "tailgate_request_duration_seconds_bucket))");
    reported = number_at(json, "measures.e2e.p99_ms") / 1e3;
    json_decref(json);
    assert_true(p99 > 0);
    assert_in_range(bucket_of(page, p99) - bucket_of(page, reported) + 1, 0, 2);
    tool_stop(server);
    kill(p.pid, SIGTERM);
    proc_wait(&p);
    stub_stop(&stub);
}

/* ---- the dashboard ---- */

/* The queries, as Grafana would send them. */
static void find_queries(json_t *json, struct strlist *out)
{
    const char *key;
    json_t *value;
    size_t i;

    if (json_is_array(json)) {
        json_array_foreach(json, i, value)
        {
            find_queries(value, out);
        }
        return;
    }
    json_object_foreach(json, key, value)
    {
        if (strcmp(key, "expr") == 0) {
            char *a =
                str_replace(json_string_value(value), "$__rate_interval", "1m");

            strlist_add(out, keep(str_replace(keep(a), "$run", ".*")));
        } else {
            find_queries(value, out);
        }
    }
}

static void check_promql(const struct strlist *queries)
{
    struct buf rules;

    buf_init(&rules, MAX_TEXT);
    buf_adds(&rules, "groups:\n- name: dashboard\n  rules:\n");
    for (size_t i = 0; i < queries->len; i++)
        buf_addf(&rules, "  - record: query_%zu\n    expr: '%s'\n", i,
                 queries->items[i]);
    tool_run(TOOL("promtool", "check", "rules",
                  tmpdir_write("rules.yml", rules.data, rules.len)),
             tmpdir_path("promtool.log"));
    buf_fini(&rules);
}

/* The names in a query: what is followed by neither a bracket nor an equals
 * sign, and is no word of PromQL. */
static void find_names(const char *query, struct strlist *out)
{
    static const char pattern[] =
        "(tailgate_|vllm:|sglang:|tgi_|nv_|llamacpp:)[a-zA-Z0-9_:]+";
    regex_t regex;
    regmatch_t at;

    assert_int_equal(regcomp(&regex, pattern, REG_EXTENDED), 0);
    for (const char *p = query; regexec(&regex, p, 1, &at, 0) == 0;
         p += at.rm_eo)
        strlist_add(out,
                    keepf("%.*s", (int)(at.rm_eo - at.rm_so), p + at.rm_so));
    regfree(&regex);
}

/* What a stub in the style of a server says about itself. */
static char *page_of_style(const char *style)
{
    char *url;
    struct proc stub = stub_start(
        ARGS("stub", "--service", "llm", "--metrics-style", style), &url);
    char *page = watched_get(url, "/metrics", NULL, 200);

    stub_stop(&stub);
    return page;
}

static bool has_series(const char *page, const char *name)
{
    size_t len = strlen(name);

    for (const char *p = page; (p = strstr(p, name)); p++) {
        if ((p == page || p[-1] == '\n') && (p[len] == '{' || p[len] == ' '))
            return true;
    }
    return false;
}

TEST(every_series_of_the_dashboard_exists)
{
    char *file =
        keepf("%s/packaging/grafana/tailgate.json", getenv("TAILGATE_SOURCE"));
    char *dialects = watched_text(keepf("%s/loadgen/observe/metrics_dialect.c",
                                        getenv("TAILGATE_SOURCE")));
    json_t *json = json_loads(watched_text(file), 0, NULL);
    struct strlist queries = {0};
    struct strlist names = {0};
    char *url;
    struct proc stub = stub_start(ARGS("stub", "--service", "fixed 1ms"), &url);
    struct proc p = proc_start(
        ARGS("sweep", url, "--rates", "50", "-d", "4s", "--warmup", "0s",
             "--settle", "0s", "--slo", "e2e p50 < 500ms", "-o",
             tmpdir_path("sweep"), "--listen", "0", "--listen-linger", "60s"));
    char *listens = watched_url(&p);
    char *page = NULL;
    struct buf all;

    assert_non_null(json);
    find_queries(json, &queries);
    assert_true(queries.len > 30);
    for (size_t i = 0; i < queries.len; i++)
        find_names(queries.items[i], &names);
    if (has_tool("/usr/bin/promtool"))
        check_promql(&queries);
    buf_init(&all, MAX_TEXT);
    buf_adds(&all, page_of_style("vllm"));
    buf_adds(&all, page_of_style("sglang"));
    buf_adds(&all, page_of_style("tgi"));
    buf_adds(&all, page_of_style("triton"));
    for (int i = 0; i < 600; i++) { /* every series of a run comes by */
        page = watched_get(listens, "/metrics", NULL, 200);
        buf_adds(&all, page);
        if (strstr(page, "phase=\"over\"} 1\n"))
            break;
        clk_sleep_ns(200 * NS_PER_MS);
    }
    for (size_t i = 0; i < names.len; i++) {
        const char *name = names.items[i];
        bool is_known =
            strncmp(name, "llamacpp:", 9) == 0 /* the stub has no such style */
                ? strstr(dialects, keepf("\"%s\"", name)) != NULL
                : has_series(buf_text(&all), name);

        if (strncmp(name, "tailgate_search_", 16) == 0) /* of a search */
            is_known = strstr(buf_text(&all),
                              keepf("# TYPE %s gauge\n", name)) != NULL;
        if (!is_known)
            fail_msg("no series %s", name);
    }
    strlist_fini(&queries);
    strlist_fini(&names);
    buf_fini(&all);
    kill(p.pid, SIGTERM);
    proc_wait(&p);
    stub_stop(&stub);
    json_decref(json);
}
