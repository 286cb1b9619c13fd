#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/starter.h"
#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/text/redact.h"
#include "common/wire/api_names.h"
#include "loadgen/prepare/discover.h"

#define MAX_FILE 65536

/* The server may not run yet. */
#define CONNECT_NS (2 * NS_PER_S)
#define TIMEOUT_NS (5 * NS_PER_S)

struct init_args {
    char *out;
    bool force;
    int api;
    char *auth_env;
};

#define AT(field) offsetof(struct init_args, field)

/* clang-format off */
static const struct opt opts[] = {
    {FLAG("out", text, out), .letter = 'o',
     .help = "file to write (default: standard output)"},
    {FLAG("force", switch, force),
     .help = "replace an existing file"},
    {FLAG("api", choice, api), .names = api_names, .initial = "auto",
     .help = "API of the server; auto detects it from the URL's path"},
    {FLAG("auth-env", text, auth_env),
     .help = "environment variable with the API key; the file contains only "
             "its name"},
};
/* clang-format on */

static const struct opt_block block = {"init", opts,
                                       sizeof(opts) / sizeof(opts[0])};

/* It would be written to the file. */
static int refuse_secret(const char *url, struct err *err)
{
    char *shown = redact_url(url);
    int rc = 0;

    if (strcmp(shown, url) != 0)
        rc = err_set(err, ERR_USAGE,
                     "%s: the URL has a secret, which would be written to the "
                     "file; leave it out and use --auth-env",
                     shown);
    free(shown);
    return rc;
}

/* What a run of this target alone would need. */
static int aim(struct settings *s, const char *url, const struct init_args *own,
               struct err *err)
{
    struct opt_set target = settings_set(s, BLOCK_TARGET);

    if (opt_assign(&target, opt_by_key(target.block, "url"), url, err) ||
        refuse_secret(url, err))
        return -1;
    s->target.api = own->api;
    s->target.auth_env = own->auth_env ? xstrdup(own->auth_env) : NULL;
    s->target.connect_timeout_ns = CONNECT_NS;
    s->target.timeout_ns = TIMEOUT_NS;
    s->load.clients = 1;
    return settings_resolve(s, err);
}

static int write_out(const struct buf *text, const struct init_args *own,
                     struct err *err)
{
    if (!own->out)
        return cli_print(buf_text(text), err);
    if (!own->force && access(own->out, F_OK) == 0)
        return err_set(err, ERR_USAGE,
                       "%s: the file exists; --force replaces it", own->out);
    if (file_replace(own->out, buf_text(text), text->len, err))
        return -1;
    log_note("settings   %s; check it with: tailgate validate %s", own->out,
             own->out);
    return 0;
}

static int make(const char *url, const struct init_args *own, struct err *err)
{
    struct settings s;
    struct err unknown = {0};
    struct buf text;
    int rc;

    settings_init(&s);
    buf_init(&text, MAX_FILE);
    rc = aim(&s, url, own, err);
    if (rc == 0) {
        if (discover(&s, &unknown)) /* the file then says why */
            strlist_fini(&s.data.tensors);
        starter_view(&s, unknown.code ? unknown.msg : NULL, &text);
        rc = write_out(&text, own, err);
    }
    buf_fini(&text);
    settings_fini(&s);
    return rc;
}

static int answer(void *args, const struct strlist *words, struct err *err)
{
    return words->len == 1 ? make(words->items[0], args, err)
                           : err_set(err, ERR_USAGE,
                                     "init takes one URL, not %zu", words->len);
}

static const struct opt_block *const blocks[] = {&block, NULL};

const struct command cmd_init = {
    .name = "init",
    .usage = "URL [FLAGS]",
    .help = "write a commented settings file to start from",
    .answer = answer,
    .args_size = sizeof(struct init_args),
    .blocks = blocks,
};
