/* suite.c - the main() of an executable that holds the tests of one folder.
 *
 * Usage: EXECUTABLE TEST.  SUITE_LIST names a file of TEST(name) lines; the
 * main() of test_<name>.c was renamed to suite_<name>() (tests/CMakeLists.txt).
 */
#include <stdio.h>
#include <string.h>

#define TEST(name) int suite_##name(void);
#include SUITE_LIST
#undef TEST

static const struct {
    const char *name;
    int (*run)(void);
} tests[] = {
#define TEST(name) {#name, suite_##name},
#include SUITE_LIST
#undef TEST
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof tests / sizeof *tests; i++)
        if (strcmp(tests[i].name, argv[1]) == 0)
            return tests[i].run();
    fprintf(stderr, "usage: %s TEST, where TEST is one of:\n", argv[0]);
    for (size_t i = 0; i < sizeof tests / sizeof *tests; i++)
        fprintf(stderr, "  %s\n", tests[i].name);
    return 2;
}
