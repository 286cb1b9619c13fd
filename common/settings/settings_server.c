/* The options of a server that is started for a run, and what contradicts
 * itself in them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/str.h"
#include "common/base/url.h"
#include "common/settings/settings.h"

#define AT(field) offsetof(struct settings, server.field)

static const struct opt server[] = {
    {.key = "start",
     .type = &opt_text,
     .offset = AT(start),
     .is_command = true,
     .help = "shell command that is the server, and stays in the foreground: "
             "started for each run, and ended with all that it has started; "
             "{port} in it is a free port, as in target.url"},
    {.key = "ready",
     .type = &opt_text,
     .offset = AT(ready),
     .is_command = true,
     .help = "it is ready when this URL answers, or when this shell command "
             "ends with 0 (target.url)"},
    {.key = "ready_within",
     .type = &opt_duration,
     .offset = AT(ready_ns),
     .is_positive = true,
     .initial = "5m",
     .help = "how long it may take until then"},
    {.key = "stop",
     .type = &opt_text,
     .offset = AT(stop),
     .is_command = true,
     .help = "shell command that asks it to end, before it gets SIGTERM"},
    {.key = "grace",
     .type = &opt_duration,
     .offset = AT(grace_ns),
     .initial = "10s",
     .help = "how long it may take to end, before it gets SIGKILL"},
};

const struct opt_block block_server = {"server", server,
                                       sizeof(server) / sizeof(server[0])};

static bool asks_for_port(const struct settings *s)
{
    for (size_t i = 0; i < s->target.urls.len; i++) {
        if (strstr(s->target.urls.items[i], URL_PORT))
            return true;
    }
    return false;
}

static const char *key_without_start(const struct server_settings *s)
{
    if (s->ready)
        return "ready";
    return s->stop ? "stop" : NULL;
}

int settings_check_server(const struct settings *s, struct err *err)
{
    const char *alone = key_without_start(&s->server);

    if (s->server.start && s->has_stub)
        return err_set(err, ERR_CONFIG,
                       "server.start: not beside a stub, which is a server");
    if (s->server.start && s->study.restart)
        return err_set(err, ERR_CONFIG,
                       "study.restart: not beside server.start, which starts "
                       "the server anew for each run");
    if (s->server.start && strstr(s->server.start, URL_PORT) &&
        !asks_for_port(s))
        return err_set(err, ERR_CONFIG,
                       "server.start: has " URL_PORT
                       ", so target.url is http://127.0.0.1:" URL_PORT "/...");
    if (s->server.start)
        return 0;
    if (alone)
        return err_set(err, ERR_CONFIG, "server.%s: goes with server.start",
                       alone);
    if (asks_for_port(s) && !s->has_stub)
        return err_set(err, ERR_CONFIG,
                       "target.url: " URL_PORT
                       " is what server.start is given, and there is none");
    return 0;
}

/* ---- the port ---- */

static void replace(char **text, const char *from, const char *to)
{
    char *before = *text;

    if (!before)
        return;
    *text = str_replace(before, from, to);
    free(before);
}

static void replace_in_urls(struct settings *s, const char *from,
                            const char *to)
{
    for (size_t i = 0; i < s->target.urls.len; i++)
        replace(&s->target.urls.items[i], from, to);
    replace(&s->target.metrics, from, to);
    for (size_t i = 0; i < s->classes.len; i++)
        replace_in_urls(s->classes.items[i].settings, from, to);
    for (size_t i = 0; i < s->warmup.len; i++)
        replace_in_urls(s->warmup.items[i].settings, from, to);
}

void settings_put_port(struct settings *s, int port)
{
    char number[16];

    snprintf(number, sizeof(number), "%d", port);
    replace_in_urls(s, URL_PORT, number);
}

void settings_forget_port(struct settings *s, int port)
{
    char number[16];

    snprintf(number, sizeof(number), ":%d", port);
    replace_in_urls(s, number, ":" URL_PORT);
}
