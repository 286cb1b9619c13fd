/* test.h - a test is TEST(name) and its body; it registers itself.
 *
 *     TEST(an_empty_heap_has_nothing_due)
 *     {
 *         ...
 *     }
 *
 * The tests of a file run in the order in which they are written, in a process
 * of their own.  support/suite.c holds the registry.
 */
#ifndef TESTS_SUPPORT_TEST_H
#define TESTS_SUPPORT_TEST_H

#include <setjmp.h> /* what <cmocka.h> needs */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* A test of the file that is compiled; SUITE_FILE is its name (CMake). */
#define TEST(name) TEST_WITH(name, NULL, NULL)

/* The same, with a function to call before it and one to call after it. */
#define TEST_WITH(name, before, after)                                         \
    static void name(void **state);                                            \
    __attribute__((constructor)) static void register_##name(void)             \
    {                                                                          \
        suite_add(SUITE_FILE, #name, name, before, after);                     \
    }                                                                          \
    static void name(__attribute__((unused)) void **state)

/* Functions to call before the first test of the file and after the last. */
#define GROUP_FIXTURE(before, after)                                           \
    __attribute__((constructor)) static void register_fixture(void)            \
    {                                                                          \
        suite_set_fixture(SUITE_FILE, before, after);                          \
    }

void suite_add(const char *file, const char *name, CMUnitTestFunction run,
               CMFixtureFunction before, CMFixtureFunction after);
void suite_set_fixture(const char *file, CMFixtureFunction before,
                       CMFixtureFunction after);

#endif
