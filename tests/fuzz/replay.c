/* replay.c - runs a fuzz target on every input of its corpus, without
 * libFuzzer.
 *
 * Usage: fuzz_replay TARGET DIR.  Each input is copied into a block of exactly
 * its size, so that the address sanitizer sees a read past its end.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/xalloc.h"

#define TEST(name) int suite_##name(const uint8_t *data, size_t size);
#include SUITE_LIST
#undef TEST

static const struct target {
    const char *name;
    int (*run)(const uint8_t *data, size_t size);
} targets[] = {
#define TEST(name) {#name, suite_##name},
#include SUITE_LIST
#undef TEST
};

static const struct target *find_target(const char *name)
{
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        if (strcmp(targets[i].name, name) == 0)
            return &targets[i];
    return NULL;
}

static void replay(const struct target *target, const char *path)
{
    struct buf text = {.max = (size_t)64 << 20};
    struct err err = {0};
    uint8_t *exact;

    if (file_read(path, &text, &err) != 0) {
        fprintf(stderr, "%s\n", err.msg);
        exit(1);
    }
    exact = xcalloc(text.len + !text.len, 1);
    if (text.len)
        memcpy(exact, text.data, text.len);
    target->run(exact, text.len);
    free(exact);
    buf_fini(&text);
}

int main(int argc, char **argv)
{
    const struct target *target = argc == 3 ? find_target(argv[1]) : NULL;
    struct dirent **entries = NULL;
    int n = target ? scandir(argv[2], &entries, NULL, alphasort) : -1;
    int inputs = 0;

    if (n < 0) {
        fprintf(stderr, "usage: %s TARGET DIR\n", argv[0]);
        return 2;
    }
    for (int i = 0; i < n; i++) {
        if (entries[i]->d_name[0] != '.') {
            char *path = xasprintf("%s/%s", argv[2], entries[i]->d_name);

            replay(target, path);
            free(path);
            inputs++;
        }
        free(entries[i]);
    }
    free(entries);
    printf("%s: %d inputs\n", target->name, inputs);
    return inputs > 0 ? 0 : 1;
}
