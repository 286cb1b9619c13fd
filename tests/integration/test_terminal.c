/* Servers and recordings say what a terminal would obey; nothing of it comes
 * out, whichever command shows it. */
#include <stdbool.h>
#include <string.h>

#include <jansson.h>

#include "tests/support/corpus.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/rawserver.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

/* Neither output has anything to obey.  `says` is in one of them. */
static void is_harmless(struct proc_result *r, const char *says)
{
    corpus_check("stdout", r->out);
    corpus_check("stderr", r->err);
    if (!strstr(r->out, says) && !strstr(r->err, says))
        fail_msg("'%s' is not in: %s%s", says, r->out, r->err);
}

static void shows(const char *const *argv, int status, const char *says)
{
    struct proc_result r = proc_run(argv);

    proc_expect(&r, status);
    is_harmless(&r, says);
}

/* The same for a run that recorded to `dir`, or a report of it: a busy machine
 * may make its numbers invalid. */
static void shows_run(const char *const *argv, const char *dir, int status)
{
    struct proc_result r = proc_run(argv);

    run_expect(&r, dir, status);
    is_harmless(&r, "");
}

#define MODEL(id) "{\"id\": \"" id "\"}"
#define JSON(text)                                                             \
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"                    \
    "Connection: close\r\n\r\n" text
#define SHOWN  "a?]0;owned?b?[31mc" /* how the corpus begins */
#define STREAM "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
#define ONE(...)                                                               \
    "run", url, "-c", "1", "-n", "1", "-o", dir, "--force", __VA_ARGS__

TEST(servers_tell_the_terminal_nothing)
{
    static const struct {
        const char *name;
        const char *bytes;
        const char *path;
        int shown;        /* exit of --show */
        const char *says; /* ... and what is in it */
        int run;          /* exit of a run */
    } cases[] = {
        {"the model's name", JSON("{\"data\": [" MODEL(CORPUS_JSON) "]}"),
         "v1/completions", 1, "model      " SHOWN, 1},
        {"several models",
         JSON("{\"data\": [" MODEL(CORPUS_JSON) ", " MODEL("b") "]}"),
         "v1/completions", 2, "because the server has several: " SHOWN, 2},
        {"what is no JSON", JSON(CORPUS), "v1/completions", 3,
         "the answer is not valid JSON", 3},
        {"an error event", STREAM "event: error\ndata: " CORPUS "\n\n",
         "v1/completions?model=m", 1, "outcome    in-band error: " SHOWN, 1},
        {"an error of a status",
         "HTTP/1.1 500 " CORPUS "\r\nConnection: close\r\n\r\n"
         "{\"error\": {\"message\": \"" CORPUS "\"}}",
         "", 1, "outcome    status: HTTP status 500", 1},
        {"no HTTP", CORPUS "\r\n" CORPUS, "", 1, "outcome    malformed", 1},
    };
    char *dir = tmpdir_path("r");

    for (size_t i = 0; i < COUNT(cases); i++) {
        bool is_named = strstr(cases[i].path, "model=m") != NULL;
        const char *model = is_named ? "--model=m" : "--stream=auto";
        struct rawserver s =
            rawserver_start(cases[i].bytes, strlen(cases[i].bytes), RAW_CLOSE);
        char *url = keepf("%s%s", s.url, cases[i].path);

        shows(ARGS("run", url, "--show", model), cases[i].shown, cases[i].says);
        if (cases[i].run == 1) {
            shows_run(ARGS(ONE(model)), dir, 1);
            shows_run(ARGS("report", dir), dir, 1);
            shows(ARGS("report", dir, "--checklist"), 1, "");
            shows_run(ARGS("report", dir, "--format", "json"), dir, 1);
        } else {
            shows(ARGS(ONE(model)), cases[i].run, "");
        }
        shows(ARGS("init", url), 0, "target:");
        rawserver_stop(&s);
    }
}

/* A recording may be somebody else's. */
TEST(recordings_tell_the_terminal_nothing)
{
    char *dir = tmpdir_path("planted");
    char *path = keepf("%s/manifest.json", dir);
    struct proc_result r =
        proc_run(ARGS("run", "null://", "-q", "-c", "1", "-n", "3", "-o", dir));
    json_t *text = json_loads("\"" CORPUS_JSON "\"", JSON_DECODE_ANY, NULL);
    json_t *manifest;
    json_t *settings;

    run_expect(&r, dir, 0);
    manifest = load_manifest(dir);
    settings = json_object_get(manifest, "settings");
    json_object_set(settings, "name", text);
    json_object_set_new(
        settings, "conditions",
        json_pack("{sOsO}", json_string_value(text), text, "hardware", text));
    json_object_set(json_object_get(settings, "target"), "model", text);
    json_object_set(json_object_get(settings, "study"), "restart", text);
    assert_int_equal(json_dump_file(manifest, path, 0), 0);
    shows(ARGS("report", dir, "--checklist"), 1, "checklist");
    shows(ARGS("compare", dir, dir), 4, "compare");
    shows(ARGS("rerun", dir, "--trials", "2"), 2, "study.restart '" SHOWN);
    shows(ARGS("validate", dir, "--trials", "2", "--allow-commands"), 0,
          "from the recording: study.restart: " SHOWN);
    json_decref(text);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
