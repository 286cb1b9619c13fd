#include "common/settings/settings_path.h"

#include <string.h>

#include "common/base/xalloc.h"
#include "common/settings/option.h"

const char *settings_path_in(const struct opt *opt, const char *text)
{
    static const char of_table[] = "empirical @";

    switch (opt->path) {
    case OPT_PATH:
        return text;
    case OPT_PATH_AT:
        if (text[0] == '@')
            return text + 1;
        return strncmp(text, of_table, sizeof(of_table) - 1) == 0
                   ? text + sizeof(of_table) - 1
                   : NULL;
    default:
        return NULL;
    }
}

char *settings_path_from(const char *file, const struct opt *opt,
                         const char *text)
{
    const char *path = settings_path_in(opt, text);
    const char *slash = strrchr(file, '/');

    if (!path || !slash || path[0] == '/' || path[0] == '\0')
        return xstrdup(text);
    return xasprintf("%.*s%.*s%s", (int)(path - text), text,
                     (int)(slash + 1 - file), file, path);
}
