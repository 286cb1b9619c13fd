/* Completions for shells, from the tables of commands and options. */
#include <string.h>

#include "cli/cli.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/str.h"

#define MAX_SCRIPT ((size_t)1 << 20)

/* What follows a flag, or a command. */
enum value {
    VALUE_NONE,  /* nothing: a switch */
    VALUE_WORDS, /* one of some words */
    VALUE_FILE,  /* a text, which may name a file */
    VALUE_OTHER, /* something that cannot be completed, such as a number */
};

/* How a shell is told. */
struct shell {
    const char *name;
    void (*begin)(struct buf *out);
    void (*begin_command)(const struct command *c, struct buf *out);
    void (*put_option)(const struct command *c, const struct opt *opt,
                       struct buf *out);
    void (*end_command)(const struct command *c, struct buf *out);
    void (*end)(struct buf *out);
};

static enum value value_of(const struct opt *opt)
{
    if (opt->type->kind == OPT_SWITCH)
        return VALUE_NONE;
    if (opt->type == &opt_choice)
        return VALUE_WORDS;
    return opt->type == &opt_text ? VALUE_FILE : VALUE_OTHER;
}

static void put_names(const struct opt *opt, struct buf *out)
{
    for (size_t i = 0; opt->names[i]; i++)
        buf_addf(out, "%s%s", i ? " " : "", opt->names[i]);
}

/* The words that can follow a command: names of commands, or of shells. */
static void put_words(const struct command *c, struct buf *out)
{
    if (c == &cmd_completion) {
        buf_adds(out, "bash zsh fish");
        return;
    }
    for (size_t i = 0; commands[i]; i++)
        buf_addf(out, "%s ", commands[i]->name);
    buf_adds(out, "settings");
}

static enum value words_of(const struct command *c)
{
    if (c == &cmd_help || c == &cmd_completion)
        return VALUE_WORDS;
    return c->usage[0] ? VALUE_FILE : VALUE_NONE;
}

/* The help up to the first ';' or ': ', with a backslash before the characters
 * in `escaped`; `quote` is a single quote inside of single quotes. */
static void put_help(const char *help, const char *escaped, const char *quote,
                     struct buf *out)
{
    const char *end = help + strcspn(help, ";");
    const char *colon = strstr(help, ": ");

    if (colon && colon < end)
        end = colon;
    for (; help < end; help++) {
        if (*help == '\'')
            buf_adds(out, quote);
        else
            buf_addf(out, "%s%c", strchr(escaped, *help) ? "\\" : "", *help);
    }
}

/* ---- bash ---- */

static void begin_bash(struct buf *out)
{
    buf_adds(out,
             "# bash completion for tailgate, made by 'tailgate completion "
             "bash'\n"
             "_tailgate()\n"
             "{\n"
             "    local cur=${COMP_WORDS[COMP_CWORD]}\n"
             "    local prev=${COMP_WORDS[COMP_CWORD - 1]}\n"
             "    local flags= words= takes=file\n"
             "    COMPREPLY=()\n"
             "    if [ \"$cur\" = = ]; then\n"
             "        cur=\n"
             "    elif [ \"$prev\" = = ]; then\n"
             "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
             "    fi\n"
             "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
             "        mapfile -t COMPREPLY < <(compgen -W '");
    for (size_t i = 0; commands[i]; i++)
        buf_addf(out, "%s%s", i ? " " : "", commands[i]->name);
    buf_adds(out, "' -- \"$cur\")\n"
                  "        return\n"
                  "    fi\n"
                  "    case ${COMP_WORDS[1]} in\n");
}

static void begin_bash_command(const struct command *c, struct buf *out)
{
    buf_addf(out, "    %s)\n        case $prev in\n", c->name);
}

/* Only flags with a value need a pattern. */
static void put_bash_option(const struct command *c, const struct opt *opt,
                            struct buf *out)
{
    (void)c;
    if (value_of(opt) == VALUE_NONE)
        return;
    buf_addf(out, "        --%s", opt->flag);
    if (opt->letter)
        buf_addf(out, " | -%c", opt->letter);
    if (value_of(opt) == VALUE_WORDS) {
        buf_adds(out, ") takes=words words='");
        put_names(opt, out);
        buf_adds(out, "' ;;\n");
    } else {
        buf_addf(out, ") takes=%s ;;\n",
                 value_of(opt) == VALUE_FILE ? "value" : "nothing");
    }
}

static void end_bash_command(const struct command *c, struct buf *out)
{
    enum value value = words_of(c);

    buf_adds(out, "        *) ");
    if (value == VALUE_WORDS) {
        buf_adds(out, "takes=words words='");
        put_words(c, out);
        buf_adds(out, "'");
    } else {
        buf_addf(out, "takes=%s", value == VALUE_FILE ? "file" : "nothing");
    }
    buf_adds(out, " ;;\n        esac\n        flags='--help");
    for (size_t b = 0; c->blocks && c->blocks[b]; b++) {
        for (size_t i = 0; i < c->blocks[b]->len; i++) {
            if (c->blocks[b]->opts[i].flag)
                buf_addf(out, " --%s", c->blocks[b]->opts[i].flag);
        }
    }
    buf_adds(out, "'\n        ;;\n");
}

/* The place after a flag with a value is that value's, even after a dash. */
static void end_bash(struct buf *out)
{
    buf_adds(out,
             "    esac\n"
             "    case $takes:$cur in\n"
             "    nothing:[!-]* | nothing:) ;;\n"
             "    words:[!-]* | words:)\n"
             "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- "
             "\"$cur\") ;;\n"
             "    value:* | file:[!-]* | file:)\n"
             "        mapfile -t COMPREPLY < <(compgen -f -- \"$cur\") ;;\n"
             "    *) mapfile -t COMPREPLY < <(compgen -W \"$flags\" -- "
             "\"$cur\") ;;\n"
             "    esac\n"
             "}\n"
             "complete -o filenames -F _tailgate tailgate\n");
}

/* ---- zsh ---- */

#define ZSH_SPECIAL "[]:\\"
#define ZSH_QUOTE   "'\\''"

static void begin_zsh(struct buf *out)
{
    buf_adds(out, "#compdef tailgate\n"
                  "# zsh completion for tailgate, made by 'tailgate "
                  "completion zsh'\n"
                  "_tailgate() {\n"
                  "    local -a commands=(\n");
    for (size_t i = 0; commands[i]; i++) {
        buf_addf(out, "        '%s:", commands[i]->name);
        put_help(commands[i]->help, ZSH_SPECIAL, ZSH_QUOTE, out);
        buf_adds(out, "'\n");
    }
    buf_adds(out, "    )\n"
                  "    if (( CURRENT == 2 )); then\n"
                  "        _describe command commands\n"
                  "        return\n"
                  "    fi\n"
                  "    shift words\n"
                  "    (( CURRENT-- ))\n"
                  "    case $words[1] in\n");
}

static void begin_zsh_command(const struct command *c, struct buf *out)
{
    buf_addf(out, "    %s)\n        _arguments '--help[show the flags]'",
             c->name);
}

/* '*--rate=[help]:RATE: ' */
static void put_zsh_flag(const struct opt *opt, const char *flag,
                         const char *joint, struct buf *out)
{
    bool repeats = opt->type->kind == OPT_LIST || opt->type->kind == OPT_MAP;

    buf_addf(out, " \\\n            '%s%s%s[", repeats ? "*" : "", flag,
             value_of(opt) == VALUE_NONE ? "" : joint);
    put_help(opt->help, ZSH_SPECIAL, ZSH_QUOTE, out);
    buf_adds(out, "]");
    if (value_of(opt) != VALUE_NONE)
        buf_addf(out, ":%s:", opt->type->metavar);
    if (value_of(opt) == VALUE_WORDS) {
        buf_adds(out, "(");
        put_names(opt, out);
        buf_adds(out, ")");
    } else if (value_of(opt) == VALUE_FILE) {
        buf_adds(out, "_files");
    } else if (value_of(opt) == VALUE_OTHER) {
        buf_adds(out, " ");
    }
    buf_adds(out, "'");
}

static void put_zsh_option(const struct command *c, const struct opt *opt,
                           struct buf *out)
{
    const char letter[] = {'-', opt->letter, '\0'};
    struct buf flag;

    (void)c;
    buf_init(&flag, MAX_SCRIPT);
    buf_addf(&flag, "--%s", opt->flag);
    put_zsh_flag(opt, buf_text(&flag), "=", out);
    buf_fini(&flag);
    if (opt->letter)
        put_zsh_flag(opt, letter, "+", out);
}

static void end_zsh_command(const struct command *c, struct buf *out)
{
    enum value value = words_of(c);

    if (value == VALUE_WORDS) {
        buf_adds(out, " \\\n            '*:word:(");
        put_words(c, out);
        buf_adds(out, ")'");
    } else if (value == VALUE_FILE) {
        buf_adds(out, " \\\n            '*:file:_files'");
    }
    buf_adds(out, "\n        ;;\n");
}

/* As a function of fpath the file is the function's body; sourced, it only
 * defines it. */
static void end_zsh(struct buf *out)
{
    buf_adds(out, "    esac\n"
                  "}\n"
                  "if [[ $funcstack[1] == _tailgate ]]; then\n"
                  "    _tailgate \"$@\"\n"
                  "else\n"
                  "    compdef _tailgate tailgate\n"
                  "fi\n");
}

/* ---- fish ---- */

#define FISH_SPECIAL "\\"
#define FISH_QUOTE   "\\'"

static void begin_fish(struct buf *out)
{
    buf_adds(out, "# fish completion for tailgate, made by 'tailgate "
                  "completion fish'\n"
                  "complete -c tailgate -f\n");
    for (size_t i = 0; commands[i]; i++) {
        buf_addf(out,
                 "complete -c tailgate -n __fish_use_subcommand -a %s -d '",
                 commands[i]->name);
        put_help(commands[i]->help, FISH_SPECIAL, FISH_QUOTE, out);
        buf_adds(out, "'\n");
    }
}

static void put_fish_condition(const struct command *c, struct buf *out)
{
    buf_addf(out, "complete -c tailgate -n '__fish_seen_subcommand_from %s'",
             c->name);
}

static void begin_fish_command(const struct command *c, struct buf *out)
{
    put_fish_condition(c, out);
    buf_adds(out, " -l help -d 'show the flags'\n");
}

static void put_fish_option(const struct command *c, const struct opt *opt,
                            struct buf *out)
{
    put_fish_condition(c, out);
    buf_addf(out, " -l %s", opt->flag);
    if (opt->letter)
        buf_addf(out, " -s %c", opt->letter);
    if (value_of(opt) == VALUE_FILE)
        buf_adds(out, " -r -F");
    else if (value_of(opt) != VALUE_NONE)
        buf_adds(out, " -x");
    if (value_of(opt) == VALUE_WORDS) {
        buf_adds(out, " -a '");
        put_names(opt, out);
        buf_adds(out, "'");
    }
    buf_adds(out, " -d '");
    put_help(opt->help, FISH_SPECIAL, FISH_QUOTE, out);
    buf_adds(out, "'\n");
}

static void end_fish_command(const struct command *c, struct buf *out)
{
    enum value value = words_of(c);

    if (value == VALUE_NONE)
        return;
    put_fish_condition(c, out);
    buf_adds(out, value == VALUE_WORDS ? " -a '" : " -F\n");
    if (value == VALUE_WORDS) {
        put_words(c, out);
        buf_adds(out, "'\n");
    }
}

static void end_fish(struct buf *out)
{
    (void)out;
}

/* ---- all of them ---- */

static const struct shell shells[] = {
    {"bash", begin_bash, begin_bash_command, put_bash_option, end_bash_command,
     end_bash},
    {"zsh", begin_zsh, begin_zsh_command, put_zsh_option, end_zsh_command,
     end_zsh},
    {"fish", begin_fish, begin_fish_command, put_fish_option, end_fish_command,
     end_fish},
};

static void put_script(const struct shell *shell, struct buf *out)
{
    shell->begin(out);
    for (size_t i = 0; commands[i]; i++) {
        const struct command *c = commands[i];

        shell->begin_command(c, out);
        for (size_t b = 0; c->blocks && c->blocks[b]; b++) {
            for (size_t k = 0; k < c->blocks[b]->len; k++) {
                if (c->blocks[b]->opts[k].flag)
                    shell->put_option(c, &c->blocks[b]->opts[k], out);
            }
        }
        shell->end_command(c, out);
    }
    shell->end(out);
}

static int run(const char *const *argv, struct err *err)
{
    struct buf out;
    int rc;

    for (size_t i = 0; argv[0] && i < sizeof(shells) / sizeof(shells[0]); i++) {
        if (strcmp(argv[0], shells[i].name) != 0 || argv[1])
            continue;
        buf_init(&out, MAX_SCRIPT);
        put_script(&shells[i], &out);
        rc = cli_print_report(&out, EXIT_YES, err);
        buf_fini(&out);
        return rc;
    }
    return err_set(err, ERR_USAGE,
                   "completion works for bash, zsh or fish: name one");
}

const struct command cmd_completion = {
    .name = "completion",
    .usage = "bash|zsh|fish",
    .help = "print completions for a shell, to be sourced or installed",
    .run = run,
};
