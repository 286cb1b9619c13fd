#include <stdio.h>
#include <string.h>

#include "server-stub/seen_bodies.h"
#include "tests/support/test.h"

TEST(nothing_is_seen_at_first)
{
    struct seen s = {0};

    assert_int_equal(seen_find(&s, 1), 0);
    assert_int_equal(seen_find(&s, UINT64_MAX), 0);
    seen_fini(&s);
}

/* Far more than it begins with room for. */
TEST(what_was_added_is_found_and_nothing_else)
{
    const int64_t n = 100000;
    struct seen s = {0};

    for (int64_t i = 0; i < n; i++) {
        char text[32];
        int len = snprintf(text, sizeof(text), "body %lld", (long long)i);

        assert_int_equal(seen_find(&s, seen_hash(text, (size_t)len)), 0);
        seen_add(&s, seen_hash(text, (size_t)len), i + 1);
    }
    assert_int_equal(s.len, n);
    assert_true(s.cap >= 2 * s.len); /* so that a search ends soon */
    for (int64_t i = 0; i < n; i++) {
        char text[32];
        int len = snprintf(text, sizeof(text), "body %lld", (long long)i);

        assert_int_equal(seen_find(&s, seen_hash(text, (size_t)len)), i + 1);
    }
    seen_fini(&s);
}

TEST(the_first_answer_is_kept)
{
    struct seen s = {0};

    seen_add(&s, 7, 3);
    seen_add(&s, 7, 4);
    assert_int_equal(seen_find(&s, 7), 3);
    assert_int_equal(s.len, 1);
    seen_fini(&s);
    assert_int_equal(seen_find(&s, 7), 0);
}

/* All want the same place, the last one. */
TEST(neighbours_do_not_hide_each_other)
{
    struct seen s = {0};

    for (uint64_t i = 1; i <= 100; i++)
        seen_add(&s, (i << 32) + 1023, (int64_t)i);
    for (uint64_t i = 1; i <= 100; i++)
        assert_int_equal(seen_find(&s, (i << 32) + 1023), i);
    assert_int_equal(seen_find(&s, 1023), 0);
    seen_fini(&s);
}

/* FNV-1a, as published. */
TEST(hashes_are_those_of_the_standard)
{
    assert_true(seen_hash("", 0) == 0xcbf29ce484222325U);
    assert_true(seen_hash("a", 1) == 0xaf63dc4c8601ec8cU);
    assert_true(seen_hash("foobar", 6) == 0x85944171f73967e8U);
    assert_true(seen_hash("a\0b", 3) != seen_hash("a\0c", 3));
}

/* Whole blocks, from the beginning on. */
TEST(prefixes_are_known_as_far_as_they_go)
{
    struct seen s = {0};
    char body[4 * PREFIX_BLOCK];

    memset(body, 'a', sizeof(body));
    assert_int_equal(prefix_take(&s, body, 2 * PREFIX_BLOCK + 5), 0);
    assert_int_equal(prefix_take(&s, body, sizeof(body)), 2 * PREFIX_BLOCK);
    assert_int_equal(prefix_take(&s, body, sizeof(body)), sizeof(body));
    assert_int_equal(prefix_take(&s, body, PREFIX_BLOCK - 1), 0);
    body[PREFIX_BLOCK] = 'b'; /* what follows is another text */
    assert_int_equal(prefix_take(&s, body, sizeof(body)), PREFIX_BLOCK);
    body[0] = 'b';
    assert_int_equal(prefix_take(&s, body, sizeof(body)), 0);
    seen_fini(&s);
}
