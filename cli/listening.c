#include "cli/listening.h"

#include <stdlib.h>
#include <string.h>

#include "cli/record.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/xalloc.h"
#include "listen/listen.h"
#include "study/launch/launchers.h"

#define MAX_SUMMARY ((size_t)16 << 20)

static const char *base_name(const char *dir)
{
    const char *slash = strrchr(dir, '/');

    return slash && slash[1] ? slash + 1 : dir;
}

/* The token, which is not NULL then. */
static int read_token(const char *name, const char **token, struct err *err)
{
    *token = getenv(name);
    if (!*token)
        return err_set(err, ERR_USAGE,
                       "--listen-token-env: the environment has no %s", name);
    if (strlen(*token) < LISTEN_MIN_TOKEN || strlen(*token) > LISTEN_MAX_TOKEN)
        return err_set(err, ERR_USAGE,
                       "--listen-token-env: the token in %s has %zu "
                       "characters; it needs %d to %d",
                       name, strlen(*token), LISTEN_MIN_TOKEN,
                       LISTEN_MAX_TOKEN);
    return 0;
}

int listening_start(struct listen **l, const struct record_args *args,
                    const char *dir, struct err *err)
{
    struct listen_ask ask = {.address = args->listen,
                             .metrics_file = args->metrics_file,
                             .run = base_name(dir)};

    *l = NULL;
    if (!args->listen && args->listen_token_env)
        return err_set(err, ERR_USAGE, "--listen-token-env requires --listen");
    if (!args->listen && args->listen_linger_ns > 0)
        return err_set(err, ERR_USAGE, "--listen-linger requires --listen");
    if (!args->listen && !args->metrics_file)
        return 0;
    if (args->launch && !launcher_is_resident(args->launch))
        return err_set(err, ERR_USAGE, "--%s cannot be combined with --launch",
                       args->listen ? "listen" : "metrics-file");
    if (args->listen_token_env &&
        read_token(args->listen_token_env, &ask.token, err))
        return -1;
    if (listen_new(l, &ask, err))
        return -1;
    if (args->listen)
        log_note("listening  %s", listen_url(*l));
    return 0;
}

void listening_stop(struct listen *l, const struct record_args *args,
                    const char *dir, const struct buf *page)
{
    struct err ignored = {0}; /* a run that failed has none */
    struct buf summary;
    char *path;

    if (!l)
        return;
    buf_init(&summary, MAX_SUMMARY);
    path = xasprintf("%s/summary.json", dir);
    if (file_read(path, &summary, &ignored))
        buf_reset(&summary);
    listen_finish(l, page, &summary, args->listen_linger_ns);
    listen_free(l);
    buf_fini(&summary);
    free(path);
}
