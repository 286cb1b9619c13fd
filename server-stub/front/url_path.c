#include "server-stub/front/url_path.h"

bool path_matches(const char *pattern, const char *path)
{
    for (; *pattern && *pattern != '*'; pattern++, path++) {
        if (*pattern != *path)
            return false;
    }
    if (!*pattern)
        return !*path;
    while (*path && *path != '/') {
        path++;
        if (path_matches(pattern + 1, path))
            return true;
    }
    return false;
}
