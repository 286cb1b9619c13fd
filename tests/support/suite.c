/* suite.c - the main() of an executable that holds the tests of one folder.
 *
 * Usage: EXECUTABLE FILE, where FILE is the name of a source without test_ and
 * .c.  The tests of a file register themselves before main() (test.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/test.h"

#define MAX_FILES 128
#define MAX_TESTS 128 /* per file */

static struct group {
    const char *file;
    struct CMUnitTest tests[MAX_TESTS];
    size_t n;
    CMFixtureFunction before;
    CMFixtureFunction after;
} groups[MAX_FILES];

/* The group of a file; a new one if it has none.  NULL: no room is left. */
static struct group *find(const char *file)
{
    for (size_t i = 0; i < MAX_FILES; i++) {
        if (groups[i].file && strcmp(groups[i].file, file) != 0)
            continue;
        groups[i].file = file;
        return &groups[i];
    }
    return NULL;
}

void suite_add(const char *file, const char *name, CMUnitTestFunction run,
               CMFixtureFunction before, CMFixtureFunction after)
{
    struct group *g = find(file);

    if (!g || g->n == MAX_TESTS) {
        fprintf(stderr, "suite.c: no room for %s of %s\n", name, file);
        _Exit(2);
    }
    g->tests[g->n++] = (struct CMUnitTest){.name = name,
                                           .test_func = run,
                                           .setup_func = before,
                                           .teardown_func = after};
}

void suite_set_fixture(const char *file, CMFixtureFunction before,
                       CMFixtureFunction after)
{
    struct group *g = find(file);

    if (g) {
        g->before = before;
        g->after = after;
    }
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < MAX_FILES && groups[i].file; i++)
        if (strcmp(groups[i].file, argv[1]) == 0)
            return _cmocka_run_group_tests(argv[1], groups[i].tests,
                                           groups[i].n, groups[i].before,
                                           groups[i].after);
    fprintf(stderr, "usage: %s FILE, where FILE is one of:\n", argv[0]);
    for (size_t i = 0; i < MAX_FILES && groups[i].file; i++)
        fprintf(stderr, "  %s\n", groups[i].file);
    return 2;
}
