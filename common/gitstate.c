#include "common/gitstate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/xalloc.h"

#define MAX_COMMAND 16384
#define MAX_LINE    256

/* As one word of a shell. */
static void put_quoted(struct buf *out, const char *text, size_t len)
{
    buf_adds(out, "'");
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '\'')
            buf_adds(out, "'\\''");
        else
            buf_add(out, text + i, 1);
    }
    buf_adds(out, "'");
}

/* The first line that git has to say; false if it fails, or says nothing. */
static bool ask(const char *path, const char *question, bool with_file,
                char line[static MAX_LINE])
{
    const char *slash = strrchr(path, '/');
    const char *name = slash ? slash + 1 : path;
    struct buf command;
    FILE *git = NULL;
    bool has_line = false;

    buf_init(&command, MAX_COMMAND);
    buf_adds(&command, "GIT_OPTIONAL_LOCKS=0 git -C ");
    put_quoted(&command, slash ? path : ".",
               slash ? (size_t)(slash - path) + 1 : 1);
    buf_addf(&command, " %s", question);
    if (with_file) {
        buf_adds(&command, " -- ");
        put_quoted(&command, name, strlen(name));
    }
    buf_adds(&command, " 2>/dev/null");
    if (!command.overflowed)
        git = popen(buf_text(&command), "r");
    if (git) {
        has_line = fgets(line, MAX_LINE, git) != NULL;
        while (fgetc(git) != EOF)
            continue;
        has_line = pclose(git) == 0 && has_line;
    }
    if (has_line)
        line[strcspn(line, "\n")] = '\0';
    buf_fini(&command);
    return has_line;
}

char *git_state(const char *path)
{
    char commit[MAX_LINE];
    char line[MAX_LINE];
    const char *state = "unchanged";

    if (!ask(path, "rev-parse --verify HEAD", false, commit))
        return NULL;
    if (!ask(path, "ls-files", true, line))
        state = "not tracked";
    else if (ask(path, "status --porcelain", true, line))
        state = "changed since";
    return xasprintf("%s, %s", commit, state);
}
