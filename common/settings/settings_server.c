/* The port of a server that is started for a run. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/str.h"
#include "common/settings/settings.h"
#include "common/text/url.h"

static bool asks_for_port(const struct settings *s)
{
    for (size_t i = 0; i < s->target.urls.len; i++) {
        if (strstr(s->target.urls.items[i], URL_PORT))
            return true;
    }
    return false;
}

int settings_check_server(const struct settings *s, struct err *err)
{
    bool has_port = s->server.start && strstr(s->server.start, URL_PORT);

    if (has_port && !asks_for_port(s))
        return err_set(err, ERR_CONFIG,
                       "server.start contains " URL_PORT
                       ", so target.url must contain it, too: "
                       "http://127.0.0.1:" URL_PORT "/...");
    if (!s->server.start && !s->has_stub && asks_for_port(s))
        return err_set(err, ERR_CONFIG,
                       "target.url: " URL_PORT " requires server.start");
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
