#include "cli/settings_args.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/log.h"
#include "common/base/xalloc.h"
#include "common/recording/dir.h"
#include "common/recording/manifest.h"
#include "common/recording/studydir.h"
#include "common/settings/settings_file.h"
#include "common/settings/variant_settings.h"
#include "common/spec/prices.h"
#include "common/text/redact.h"
#include "common/text/url.h"
#include "study/study.h"

#define CONSENT_FLAG "allow-commands"

#define AT(field) offsetof(struct settings_args, field)

/* clang-format off */
static const struct opt opts[] = {
    {FLAG("set", list, assign), .group = GROUP_OUTPUT,
     .help = "give any setting by its key, such as load.rate=80 (can be "
             "repeated)"},
    {FLAG(CONSENT_FLAG, switch, allow_commands),
     .help = "rerun only: allow the commands, key sources and files that the "
             "recording names, and print them"},
};
/* clang-format on */

const struct opt_block settings_args_block = {"settings", opts,
                                              sizeof(opts) / sizeof(opts[0])};

#define MAX_KEY  64
#define MAX_SETS 12

static int read_flags(struct settings_args *a, const struct opt_set *own,
                      enum settings_block block, const char *const *argv,
                      struct strlist *words, struct err *err)
{
    struct opt_set sets[MAX_SETS] = {
        {&settings_args_block, a},
        settings_set(&a->settings, BLOCK_TOP),
        settings_set(&a->settings, BLOCK_TARGET),
        settings_set(&a->settings, BLOCK_LOAD),
        settings_set(&a->settings, BLOCK_TRACE),
        settings_set(&a->settings, BLOCK_DATA),
        settings_set(&a->settings, BLOCK_CLIENT),
        settings_set(&a->settings, BLOCK_STUDY),
        settings_set(&a->settings, BLOCK_COST),
    };
    size_t n = 0;

    while (sets[n].block)
        n++;
    if (block != BLOCK_COUNT)
        sets[n++] = settings_set(&a->settings, block);
    for (; own && own->block; own++) {
        assert(n < MAX_SETS);
        sets[n++] = *own;
    }
    return opt_parse_argv(sets, n, argv, words, err);
}

/* ---- consent ----
 *
 * A recording may come from another person.  The commands, key sources and
 * files that its manifest names are used only if the user agrees: otherwise
 * rerun would run that person's command, or send a key or a file to that
 * person's URL. What the user gives on the command line needs no consent. */

#define MAX_NAMES 360  /* keys in a message */
#define MAX_LINE  240  /* keys and values in a message */
#define MAX_VALUE 1000 /* of a value on a line of its own */

/* The text, if the option makes us run a command, or read a key or a file. */
static char *reaches_out(const struct opt_set *set, const struct opt *opt)
{
    char *text = opt->type == &opt_text ? *(char **)opt_field(set, opt) : NULL;

    if (!text || !text[0])
        return NULL;
    return opt->is_command || opt->is_key_source || settings_path_in(opt, text)
               ? text
               : NULL;
}

/* Does the run have the same text? */
static bool is_same(struct settings *run, enum settings_block block,
                    const struct opt *opt, const char *text)
{
    const struct opt_set set = settings_set(run, block);
    const char *of_run = reaches_out(&set, opt);

    return of_run && strcmp(of_run, text) == 0;
}

/* Take these texts out of a block; of a class, which keeps them, what the run
 * does not have as well.  `whose` is "classes: chat: ", or "" for the run. */
static void take_block(struct consent *c, struct settings *s,
                       enum settings_block block, const char *whose,
                       struct settings *run)
{
    const struct opt_set set = settings_set(s, block);
    const char *name = set.block->name;

    for (size_t i = 0; i < set.block->len; i++) {
        const struct opt *opt = &set.block->opts[i];
        char *text = opt->key ? reaches_out(&set, opt) : NULL;
        struct consent_item item = {.text = text};

        if (!text || (run && is_same(run, block, opt, text)))
            continue;
        item.where = xasprintf("%s%s%s%s", whose, name ? name : "",
                               name ? "." : "", opt->key);
        if (whose[0]) {
            item.text = xstrdup(text);
        } else {
            item.field = opt_field(&set, opt);
            *item.field = NULL;
        }
        c->items = xrealloc(c->items, c->len + 1, sizeof(*c->items));
        c->items[c->len++] = item;
    }
}

/* Before flags are applied, so that what the user gives can be distinguished.
 * A class will have the rest from the run; the warm-up has nothing from the run
 * once it is recorded. */
static void consent_take(struct consent *c, struct settings *s)
{
    for (size_t i = 0; i < s->classes.len; i++) {
        struct class_settings *of = &s->classes.items[i];
        char *whose = xasprintf("classes: %s: ", of->name);

        take_block(c, of->settings, BLOCK_TARGET, whose, s);
        take_block(c, of->settings, BLOCK_DATA, whose, s);
        free(whose);
    }
    for (size_t i = 0; i < s->warmup.len; i++)
        take_block(c, s->warmup.items[i].settings, BLOCK_DATA,
                   CLASSES_WARMUP ": ", NULL);
    for (int b = 0; b < BLOCK_COUNT; b++)
        take_block(c, s, (enum settings_block)b, "", NULL);
}

static bool is_given_again(const struct consent_item *item)
{
    return item->field && *item->field;
}

/* Values that do not fit into the message are logged before it. */
static int refuse(const struct consent *c, struct err *err)
{
    struct buf names;
    struct buf line;
    size_t n = 0;

    buf_init(&names, MAX_NAMES); /* names that do not fit are left out */
    buf_init(&line, MAX_LINE);
    for (size_t i = 0; i < c->len; i++) {
        const struct consent_item *item = &c->items[i];

        if (is_given_again(item))
            continue;
        n++;
        buf_addf(&names, "%s%s", names.len > 0 ? ", " : "", item->where);
        buf_addf(&line, "%s%s '%s'", line.len > 0 ? ", " : "", item->where,
                 item->text);
    }
    for (size_t i = 0; line.overflowed && i < c->len; i++) {
        const struct consent_item *item = &c->items[i];

        if (!is_given_again(item))
            log_error("in the recording: %s: %.*s%s", item->where, MAX_VALUE,
                      item->text, strlen(item->text) > MAX_VALUE ? "..." : "");
    }
    if (n > 0)
        err_set(err, ERR_CONFIG,
                "the recording would use commands, keys or files of this "
                "machine: %s; --" CONSENT_FLAG " shows and allows them",
                !line.overflowed ? buf_text(&line)
                : names.len > 0  ? buf_text(&names)
                                 : "long names");
    buf_fini(&line);
    buf_fini(&names);
    return n > 0 ? -1 : 0;
}

/* Put back what the user did not give, after printing it.  ERR_CONFIG, with
 * keys and values, if there is any and it is not allowed. */
static int consent_settle(struct consent *c, bool is_allowed, struct err *err)
{
    if (!is_allowed && refuse(c, err))
        return -1;
    for (size_t i = 0; i < c->len; i++) {
        struct consent_item *item = &c->items[i];

        if (is_given_again(item))
            continue;
        log_error("from the recording: %s: %s", item->where, item->text);
        if (item->field) {
            *item->field = item->text;
            item->text = NULL;
        }
    }
    return 0;
}

/* ---- words ---- */

/* The key of a text that had a secret in it; NULL: none had. */
static const char *redacted_key(const struct settings *s)
{
    const struct {
        const char *key;
        const char *text;
    } texts[] = {
        {"target.proxy", s->target.proxy},
        {"target.metrics", s->target.metrics},
        {"cost.energy", s->cost.energy},
        {"server.start", s->server.start},
        {"server.ready", s->server.ready},
        {"server.stop", s->server.stop},
        {"study.restart", s->study.restart},
    };

    for (size_t i = 0; i < s->target.urls.len; i++) {
        if (redact_was(s->target.urls.items[i]))
            return "target.url";
    }
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        if (texts[i].text && redact_was(texts[i].text))
            return texts[i].key;
    }
    return NULL;
}

/* `class`: whose settings they are; NULL: those of the run. */
static int refuse_redacted_in(const struct settings *s, const char *class,
                              struct err *err)
{
    const struct strmap *headers = &s->target.headers;
    const char *key = redacted_key(s);

    for (size_t i = 0; i < headers->keys.len; i++) {
        if (redact_was(headers->values.items[i]))
            return err_set(err, ERR_CONFIG,
                           "recordings keep no secrets: give the header '%s' "
                           "again (-H '%s%s%s: ...'%s)",
                           headers->keys.items[i], class ? class : "",
                           class ? "/" : "", headers->keys.items[i],
                           class ? "" : ", or --auth-env");
    }
    if (key)
        return err_set(err, ERR_CONFIG,
                       "recordings keep no secrets: give %s again "
                       "(--set %s=...)",
                       key, key);
    return 0;
}

/* What a recording does not keep must be given again. */
static int refuse_redacted(const struct settings *s, struct err *err)
{
    if (refuse_redacted_in(s, NULL, err))
        return -1;
    for (size_t i = 0; i < s->classes.len; i++) {
        const struct class_settings *c = &s->classes.items[i];

        if (refuse_redacted_in(c->settings, c->name, err))
            return err_context(err, "classes: %s", c->name);
    }
    return 0;
}

/* Headers that a class has from the run are taken from the run again. */
static void keep_own_headers(struct settings *of_class,
                             const struct settings *run)
{
    struct strmap all = of_class->target.headers;

    of_class->target.headers = (struct strmap){0};
    for (size_t i = 0; i < all.keys.len; i++) {
        const char *value = strmap_get(&run->target.headers, all.keys.items[i]);

        if (!value || strcmp(value, all.values.items[i]) != 0)
            strmap_put(&of_class->target.headers, all.keys.items[i],
                       all.values.items[i]);
    }
    strmap_fini(&all);
}

/* Not a price: none was given on the command line. */
#define NOT_GIVEN (-1)

/* The recorded price applies to the same machine only. */
static int take_price_again(struct settings_args *a, struct err *err)
{
    struct cost_settings *cost = &a->settings.cost;
    const char *machine = prices_machine(&a->settings);
    const char *was = a->recorded_machine;

    if (cost->usd_per_hour != NOT_GIVEN)
        return 0;
    cost->usd_per_hour = cost->prices ? 0 : a->recorded_usd;
    if (!(cost->usd_per_hour > 0) || !was ||
        (machine && strcmp(machine, was) == 0))
        return 0;
    return err_set(err, ERR_CONFIG,
                   "the recorded price is for machine '%.80s', not '%.80s'; "
                   "use --prices or --usd-per-hour",
                   was, machine ? machine : "");
}

/* The settings as they were used, for one run. */
static int load_recording(struct settings_args *a, const char *dir,
                          struct err *err)
{
    struct manifest m = {0};
    const char *machine;
    int rc = manifest_load(&m, dir, err);

    if (rc == 0)
        rc = manifest_settings_asked(&m, &a->settings, err);
    for (size_t i = 0; rc == 0 && i < a->settings.classes.len; i++)
        keep_own_headers(a->settings.classes.items[i].settings, &a->settings);
    if (rc == 0) {
        a->settings.study.trials = 1;
        a->recorded_settle_ns = a->settings.study.settle_ns;
        /* NOT_GIVEN shows whether a price is given again. */
        machine = prices_machine(&a->settings);
        a->recorded_usd = a->settings.cost.usd_per_hour;
        a->recorded_machine = machine ? xstrdup(machine) : NULL;
        a->settings.cost.usd_per_hour = NOT_GIVEN;
        consent_take(&a->consent, &a->settings);
    }
    a->is_recording = rc == 0;
    manifest_fini(&m);
    return rc;
}

/* The recording is repeated as one run, so what its study did between runs does
 * not apply: its restart command is forgotten.  A pause that is given again is
 * kept. */
static void drop_study(struct settings_args *a)
{
    struct opt_set study = settings_set(&a->settings, BLOCK_STUDY);
    const struct opt *settle = opt_by_key(study.block, "settle");
    struct consent *c = &a->consent;

    for (size_t i = 0; i < c->len; i++) {
        if (c->items[i].field != &a->settings.study.restart)
            continue;
        free(c->items[i].where);
        free(c->items[i].text);
        c->items[i] = c->items[--c->len];
        break;
    }
    if (a->settings.study.settle_ns == a->recorded_settle_ns)
        opt_assign(&study, settle, settle->initial, &(struct err){0});
}

static int load_word(struct settings_args *a, const char *word, struct err *err)
{
    struct opt_set target = settings_set(&a->settings, BLOCK_TARGET);

    if (strstr(word, "://") || (access(word, F_OK) < 0 && url_is_meant(word))) {
        if (!a->first_url) {
            strlist_fini(&a->settings.target.urls);
            a->first_url = xstrdup(word);
        }
        return opt_assign(&target, opt_by_key(target.block, "url"), word, err);
    }
    if (strpbrk(word, ":?") && access(word, F_OK) < 0) {
        char *shown = redact_url(word); /* it may be a URL with a secret */

        err_set(err, ERR_CONFIG, "%s: %s; if it is a URL, write http://", shown,
                strerror(errno));
        free(shown);
        return -1;
    }
    if (a->file.path)
        return err_set(err, ERR_USAGE,
                       "'%s': only one settings file can be given, and it is "
                       "'%s'",
                       word, a->file.path);
    if (recording_is_at(word)) {
        a->file.path = xstrdup(word);
        return load_recording(a, word, err);
    }
    if (study_is_at(word))
        return study_refuse_as_run(word, err);
    return settings_file_read(&a->file, word, err)
               ? -1
               : settings_load_file(&a->settings, &a->file, err);
}

/* NULL: there is no such class. */
static struct settings *class_named(const struct settings *s, const char *name,
                                    size_t len)
{
    for (size_t i = 0; i < s->classes.len; i++) {
        const struct class_settings *c = &s->classes.items[i];

        if (strlen(c->name) == len && strncmp(c->name, name, len) == 0)
            return c->settings;
    }
    return NULL;
}

/* No header has a slash in its name: 'chat/x-key: secret' is for the class
 * `chat` of the recording. */
static int hand_out_headers(struct settings *s, struct err *err)
{
    struct strmap all = s->target.headers;
    int rc = 0;

    s->target.headers = (struct strmap){0};
    for (size_t i = 0; rc == 0 && i < all.keys.len; i++) {
        const char *key = all.keys.items[i];
        const char *slash = strchr(key, '/');
        struct settings *to =
            slash ? class_named(s, key, (size_t)(slash - key)) : s;

        if (to)
            strmap_put(&to->target.headers, slash ? slash + 1 : key,
                       all.values.items[i]);
        else
            rc = err_set(err, ERR_USAGE,
                         "-H '%s': the recording has no class '%.*s'", key,
                         (int)(slash - key), key);
    }
    strmap_fini(&all);
    return rc;
}

/* Has no --url replaced the URL that was given as a word? */
static bool is_first_url(const struct settings_args *a)
{
    char *whole = url_complete(a->first_url);
    bool is = strcmp(settings_url(&a->settings), whole) == 0;

    free(whole);
    return is;
}

/* Without a stub its settings would be ignored. */
static int check_assigned(const struct settings_args *a, const char *item,
                          struct err *err)
{
    const struct classes *variants = &a->settings.variants;
    bool has_stub = a->settings.has_stub || strncmp(item, "stub.", 5) != 0;

    for (size_t i = 0; i < variants->len; i++)
        has_stub |= variants->items[i].settings->has_stub;
    return has_stub ? 0
                    : err_set(err, ERR_CONFIG,
                              "%.*s requires the block 'stub' of a settings "
                              "file",
                              (int)strcspn(item, "="), item);
}

static int apply(struct settings_args *a, const struct opt_set *own,
                 enum settings_block block, const char *const *argv,
                 struct err *err)
{
    struct strlist words = {0};
    int rc = read_flags(a, own, block, argv, &words, err);

    strlist_fini(&words);
    for (size_t i = 0; rc == 0 && i < a->assign.len; i++) {
        const char *item = a->assign.items[i];
        char key[MAX_KEY];

        rc = settings_assign(&a->settings, item, err) ||
                     check_assigned(a, item, err)
                 ? err_context(err, "--set")
                 : 0;
        snprintf(key, sizeof(key), "%.*s", (int)strcspn(item, "="), item);
        strmap_put(&a->file.given, key, key);
    }
    if (rc == 0 && a->is_recording)
        rc = hand_out_headers(&a->settings, err) || take_price_again(a, err)
                 ? -1
                 : 0;
    if (rc == 0 && a->is_recording && block == BLOCK_COUNT &&
        a->settings.study.trials < 2)
        drop_study(a);
    if (rc == 0 && consent_settle(&a->consent, a->allow_commands, err))
        rc = err_context(err, "%s", a->file.path);
    if (rc == 0 && a->first_url && !is_first_url(a))
        rc = err_set(err, ERR_USAGE,
                     "--url cannot be combined with a URL given as an "
                     "argument");
    return rc;
}

/* What flags have set, now that nothing else has. */
static void note_given(struct settings *s, struct strmap *given)
{
    for (int b = 0; b < BLOCK_COUNT; b++) {
        struct opt_set set = settings_set(s, (enum settings_block)b);
        const char *block = set.block->name;

        for (size_t i = 0; i < set.block->len; i++) {
            const struct opt *opt = &set.block->opts[i];
            char key[MAX_KEY];
            char flag[MAX_KEY];

            if (!opt->key || !opt->flag || !opt_is_given(&set, opt))
                continue;
            snprintf(key, sizeof(key), "%s%s%s", block ? block : "",
                     block ? "." : "", opt->key);
            snprintf(flag, sizeof(flag), "--%s", opt->flag);
            strmap_put(given, key, flag);
        }
    }
}

/* The words must be known before the flags can be applied over them, so the
 * flags are read twice. */
int settings_args_parse(struct settings_args *a, const struct opt_set *own,
                        enum settings_block block, const char *const *argv,
                        struct err *err)
{
    struct strlist words = {0};
    struct strmap given = {0};
    int rc;

    *a = (struct settings_args){0};
    settings_init(&a->settings);
    rc = read_flags(a, own, block, argv, &words, err);
    note_given(&a->settings, &given);
    settings_fini(&a->settings);
    settings_init(&a->settings);
    a->settings.texts = &a->texts;
    strlist_fini(&a->assign);
    for (size_t i = 0; rc == 0 && i < words.len; i++)
        rc = load_word(a, words.items[i], err);
    strlist_fini(&words);
    a->file.given = given;
    return rc ? rc : apply(a, own, block, argv, err);
}

struct study_source settings_args_source(const struct settings_args *a)
{
    return (struct study_source){
        .asked = &a->settings,
        .file = &a->file,
        .check = a->is_recording ? refuse_redacted : NULL,
    };
}

int settings_args_resolve(const struct settings_args *a, struct settings *out,
                          struct err *err)
{
    const struct study_source source = settings_args_source(a);

    if (a->settings.variants.len == 0)
        return study_settings(&source, NULL, out, err);
    settings_init(out);
    err_set(err, ERR_CONFIG,
            VARIANTS ": can only be used with run, sweep, search and validate");
    return settings_args_blame(a, err);
}

int settings_args_blame(const struct settings_args *a, struct err *err)
{
    return settings_blame(&a->file, err);
}

void settings_args_fini(struct settings_args *a)
{
    settings_fini(&a->settings);
    settings_file_fini(&a->file);
    strlist_fini(&a->assign);
    strmap_fini(&a->texts);
    for (size_t i = 0; i < a->consent.len; i++) {
        free(a->consent.items[i].where);
        free(a->consent.items[i].text);
    }
    free(a->consent.items);
    a->consent = (struct consent){0};
    free(a->first_url);
    free(a->recorded_machine);
}
