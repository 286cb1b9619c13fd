/* Credentials go to the target's origin and to no other server: every place
 * that makes a request, with a second server that logs what it is sent. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "tests/support/echoserver.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define KEY       "sk-planted-7d1f"
#define MAX_BYTES ((size_t)1 << 20)

enum asked {
    TARGET, /* the target is asked, with the credentials */
    OTHER,  /* the other server is asked, without them */
    NEITHER
};

/* Headers of each kind that is secret; %t and %o are the URLs of the servers,
 * with the slash at the end. */
#define HEADERS                                                                \
    "headers: {Authorization: Bearer " KEY ", X-Api-Key: " KEY                 \
    ", Cookie: a=" KEY ", X-Session-Id: " KEY "}"
#define LOAD "load: {rate: 100, requests: 2, drain: 5s}\n"

static const struct place {
    const char *name;
    const char *settings;
    const char *flag; /* of run; NULL: none */
    const char *path; /* that the server is asked for */
    enum asked target;
    enum asked other;
    int status;
} places[] = {
    {"run", "target: {url: '%t', " HEADERS "}\n" LOAD, NULL, "GET / ", TARGET,
     NEITHER, 0},
    {"run with a key of the environment",
     "target: {url: '%t', auth_env: PLANTED_KEY}\n" LOAD, NULL, "GET / ",
     TARGET, NEITHER, 0},
    {"show", "target: {url: '%t', " HEADERS "}\n" LOAD, "--show", "GET / ",
     TARGET, NEITHER, 0},
    {"wait-ready", "target: {url: '%tready', " HEADERS "}\n" LOAD,
     "--wait-ready=5s", "GET /ready ", TARGET, NEITHER, 0},
    {"redirect", "target: {url: '%tmoved', " HEADERS "}\n" LOAD, NULL,
     "GET /moved ", TARGET, NEITHER, 0},
    {"redirect over libcurl",
     "target: {url: '%tmoved', transport: curl, " HEADERS "}\n" LOAD, NULL,
     "GET /moved ", TARGET, NEITHER, 0},
    {"discovery of the model",
     "target: {url: '%tv1/completions', " HEADERS "}\n" LOAD, NULL,
     "GET /v1/models ", TARGET, NEITHER, 3},
    {"discovery of the inputs",
     "target: {url: '%tv2/models/m/infer', " HEADERS "}\n" LOAD, NULL,
     "GET /v2/models/m ", TARGET, NEITHER, 3},
    {"metrics of the target",
     "target: {url: '%t', metrics: '%tmetrics', " HEADERS "}\n" LOAD, NULL,
     "GET /metrics ", TARGET, NEITHER, 3},
    {"metrics of another",
     "target: {url: '%t', metrics: '%ometrics', " HEADERS "}\n" LOAD, NULL,
     "GET /metrics ", NEITHER, OTHER, 3},
    {"metrics of another, with a key of the environment",
     "target: {url: '%t', metrics: '%ometrics', auth_env: PLANTED_KEY}\n" LOAD,
     NULL, "GET /metrics ", NEITHER, OTHER, 3},
    {"metrics of another, with connect_to",
     "target: {url: '%t', connect_to: '%c', metrics: '%ometrics', " HEADERS
     "}\n" LOAD,
     NULL, "GET /metrics ", NEITHER, OTHER, 3},
    {"energy of the target",
     "target: {url: '%t', " HEADERS "}\n"
     "cost: {energy: 'series %tpower x_watts'}\n" LOAD,
     NULL, "GET /power ", TARGET, NEITHER, 3},
    {"energy of another",
     "target: {url: '%t', " HEADERS "}\n"
     "cost: {energy: 'series %opower x_watts'}\n" LOAD,
     NULL, "GET /power ", NEITHER, OTHER, 3},
    /* Nothing is started on the port, so the run ends after the question. */
    {"server.ready",
     "target: {url: 'http://127.0.0.1:{port}/', " HEADERS "}\n"
     "server: {start: exec sleep 60, ready: '%oready'}\n" LOAD,
     NULL, "GET /ready ", NEITHER, OTHER, 3},
    {"server.ready with a key of the environment",
     "target: {url: 'http://127.0.0.1:{port}/', auth_env: PLANTED_KEY}\n"
     "server: {start: exec sleep 60, ready: '%oready'}\n" LOAD,
     NULL, "GET /ready ", NEITHER, OTHER, 3},
};

struct logged {
    struct echoserver server;
    char *log;
};

static struct logged start(const char *name, const char *location)
{
    struct logged s = {.log = xstrdup(tmpdir_path(name))};

    unlink(s.log);
    s.server = echoserver_start(&(struct echo_setup){
        .status = location ? 302 : 0, .location = location, .log = s.log});
    return s;
}

/* The text with its places filled in; owned by the caller. */
static char *fill(const char *text, const struct logged *target,
                  const struct logged *other)
{
    char *place = xstrdup(target->server.url + strlen("http://"));
    char *with_target = str_replace(text, "%t", target->server.url);
    char *with_other = str_replace(with_target, "%o", other->server.url);
    char *filled;

    place[strlen(place) - 1] = '\0';
    filled = str_replace(with_other, "%c", place);
    free(place);
    free(with_target);
    free(with_other);
    return filled;
}

static void check(const struct place *p, const struct logged *s, enum asked who,
                  enum asked expected)
{
    struct err err = {0};
    struct buf got;

    buf_init(&got, MAX_BYTES);
    if (access(s->log, F_OK) == 0)
        assert_int_equal(file_read(s->log, &got, &err), 0);
    if (!strstr(buf_text(&got), p->path) != (expected == NEITHER))
        fail_msg("%s: '%s' expected %d: %s", p->name, p->path, (int)expected,
                 buf_text(&got));
    if (who == TARGET && expected == TARGET && !strstr(buf_text(&got), KEY))
        fail_msg("%s: the target got no key: %s", p->name, buf_text(&got));
    if (who == OTHER && strstr(buf_text(&got), KEY))
        fail_msg("%s: the other server got the key: %s", p->name,
                 buf_text(&got));
    buf_fini(&got);
}

static void try_place(const struct place *p)
{
    struct logged other = start("other", NULL);
    bool moves = strncmp(p->name, "redirect", 8) == 0;
    struct logged target = start("target", moves ? other.server.url : NULL);
    char *text = fill(p->settings, &target, &other);
    char *file = tmpdir_write("s.yaml", text, strlen(text));
    char *dir = tmpdir_path("r");
    struct proc_result r = proc_run(
        p->flag ? ARGS("run", file, "-q", "-o", dir, "--force", p->flag)
                : ARGS("run", file, "-q", "-o", dir, "--force"));

    if (p->status == 0 && (!p->flag || strcmp(p->flag, "--show") != 0))
        run_expect(&r, dir, 0);
    else
        proc_expect(&r, p->status);
    check(p, &target, TARGET, p->target);
    check(p, &other, OTHER, p->other);
    echoserver_stop(&target.server);
    echoserver_stop(&other.server);
    free(target.log);
    free(other.log);
    free(text);
}

TEST(credentials_go_to_the_target_only)
{
    assert_int_equal(setenv("PLANTED_KEY", KEY, 1), 0);
    for (size_t i = 0; i < COUNT(places); i++)
        try_place(&places[i]);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
