#include <stdbool.h>

#include "server-stub/front/wire.h"
#include "tests/support/test.h"

static const struct {
    const char *pattern;
    const char *path;
    bool want;
} cases[] = {
    {"/health", "/health", true},
    {"/health", "/healt", false},
    {"/health", "/health/", false},
    {"/health", "", false},
    {"", "", true},
    {"*", "", false},
    {"*", "a", true},
    {"/m/*", "/m/", false},
    {"/m/*", "/m/a", true},
    {"/m/*", "/m/a/b", false},
    {"/m/*", "/m/*", true},
    {"/m/*:predict", "/m/a:predict", true},
    {"/m/*:predict", "/m/a:b:predict", true},
    {"/m/*:predict", "/m/:predict", false},
    {"/m/*:predict", "/m/a/b:predict", false},
    {"/m/*:predict", "/m/a:predicts", false},
    {"/m/*/v/*/x", "/m/a/v/1/x", true},
    {"/m/*/v/*/x", "/m/a/v//x", false},
    {"/m/*/v/*/x", "/m/a/w/1/x", false},
    {"a*b*c", "abbbbc", true},
    {"a*b*c", "abc", false},
};

TEST(stars_stand_for_a_part)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (path_matches(cases[i].pattern, cases[i].path) != cases[i].want)
            fail_msg("%s and %s", cases[i].pattern, cases[i].path);
    }
}
