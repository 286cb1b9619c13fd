#include "server-stub/front/wire.h"

#include <stddef.h>

#define FIRST_HTTP 100

enum { UNKNOWN = 2 };

/* The first match counts, in either direction. */
static const struct {
    int http;
    int grpc;
} pairs[] = {
    {499, 1},  {500, 13}, {400, 3},  {504, 4},       {404, 5},
    {409, 6},  {403, 7},  {429, 8},  {412, 9},       {409, 10},
    {416, 11}, {501, 12}, {503, 14}, {502, 14},      {401, 16},
    {413, 8},  {408, 4},  {500, 15}, {500, UNKNOWN},
};

#define PAIRS (sizeof(pairs) / sizeof(pairs[0]))

int status_of_grpc(int status)
{
    if (status < FIRST_HTTP)
        return status;
    for (size_t i = 0; i < PAIRS; i++) {
        if (pairs[i].http == status)
            return pairs[i].grpc;
    }
    return UNKNOWN;
}

int status_of_http(int status)
{
    if (status >= FIRST_HTTP)
        return status;
    for (size_t i = 0; i < PAIRS; i++) {
        if (pairs[i].grpc == status)
            return pairs[i].http;
    }
    return 500;
}

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
