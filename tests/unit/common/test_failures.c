#include <string.h>

#include <jansson.h>

#include "common/measure/measure.h"
#include "common/recording/failures.h"
#include "tests/support/test.h"

static int64_t total(const struct failures *f)
{
    int64_t sum = f->overflow;

    for (size_t i = 0; i < f->len; i++)
        sum += f->kinds[i].count;
    return sum;
}

TEST(kinds_are_told_apart)
{
    struct failures f = {0};

    failures_note(&f, OUTCOME_STATUS, 503, "busy", NULL, 0);
    failures_note(&f, OUTCOME_STATUS, 503, "busy", "why", 3);
    failures_note(&f, OUTCOME_STATUS, 503, "busy", "other", 5);
    failures_note(&f, OUTCOME_STATUS, 500, "busy", NULL, 0);
    failures_note(&f, OUTCOME_RESET, 503, "busy", NULL, 0);
    failures_note(&f, OUTCOME_STATUS, 503, "busier", "", 0);
    assert_int_equal(f.len, 4);
    assert_int_equal(f.kinds[0].count, 3);
    assert_int_equal(f.kinds[0].body_len, 3); /* of the first that had one */
    assert_memory_equal(f.kinds[0].body, "why", 3);
    assert_int_equal(f.kinds[3].body_len, 0);
    assert_int_equal(total(&f), 6);
    failures_note(&f, OUTCOME_STATUS, 429, "again in 9.5 s", NULL, 0);
    failures_note(&f, OUTCOME_STATUS, 429, "again in 12.25 s", NULL, 0);
    failures_note(&f, OUTCOME_STATUS, 429, "again in 1", NULL, 0);
    failures_note(&f, OUTCOME_STATUS, 429, "again in a second", NULL, 0);
    assert_int_equal(f.len, 7);
    assert_string_equal(f.kinds[4].text, "again in 9.5 s");
    assert_int_equal(f.kinds[4].count, 2);
}

/* Any number of kinds, of any size: what is kept is bounded, and counted. */
TEST(what_is_kept_is_bounded)
{
    struct failures f = {0};
    char text[1000];
    char body[5000];

    memset(text, 't', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    memset(body, 'b', sizeof(body));
    for (int i = 0; i < 1000; i++)
        failures_note(&f, OUTCOME_STATUS, i / 2, text, body, sizeof(body));
    assert_int_equal(f.len, FAILURES_KINDS);
    assert_int_equal(f.overflow, 1000 - 2 * FAILURES_KINDS);
    assert_int_equal(total(&f), 1000);
    for (size_t i = 0; i < f.len; i++) {
        assert_int_equal(f.kinds[i].count, 2); /* cut alike, so the same */
        assert_int_equal(strlen(f.kinds[i].text), FAILURES_TEXT - 1);
        assert_int_equal(f.kinds[i].body_len, FAILURES_BODY);
    }
}

TEST(merged_as_if_noted_together)
{
    struct failures into = {0};
    struct failures from = {0};

    failures_note(&into, OUTCOME_STATUS, 503, "busy", NULL, 0);
    failures_note(&into, OUTCOME_RESET, 0, "gone", "mine", 4);
    failures_note(&from, OUTCOME_RESET, 0, "gone", "theirs", 6);
    failures_note(&from, OUTCOME_STATUS, 503, "busy", "why", 3);
    failures_note(&from, OUTCOME_STATUS, 503, "busy", NULL, 0);
    failures_note(&from, OUTCOME_STATUS, 500, "busy", "new", 3);
    into.overflow = 2;
    from.overflow = 5;
    failures_merge(&into, &from);
    assert_int_equal(into.len, 3);
    assert_int_equal(into.kinds[0].count, 3);
    assert_memory_equal(into.kinds[0].body, "why", 3); /* it had none */
    assert_int_equal(into.kinds[1].count, 2);
    assert_int_equal(into.kinds[1].body_len, 4);
    assert_memory_equal(into.kinds[1].body, "mine", 4);
    assert_int_equal(into.kinds[2].detail, 500);
    assert_int_equal(into.kinds[2].count, 1);
    assert_memory_equal(into.kinds[2].body, "new", 3);
    assert_int_equal(into.overflow, 7);
    assert_int_equal(total(&into), 13);
    assert_int_equal(from.len, 3); /* as it was */
    assert_int_equal(total(&from), 9);
}

/* Those that find no place are counted all the same; those that have one in
 * both are added to it. */
TEST(merging_overflows_in_the_end)
{
    struct failures into = {0};
    struct failures from = {0};
    struct failures empty = {0};

    for (int i = 0; i < FAILURES_KINDS - 1; i++)
        failures_note(&into, OUTCOME_STATUS, i, "a", NULL, 0);
    for (int i = 0; i < 10; i++) {
        failures_note(&from, OUTCOME_STATUS, 1000 + i, "b", NULL, 0);
        failures_note(&from, OUTCOME_STATUS, 1000 + i, "b", NULL, 0);
        failures_note(&from, OUTCOME_STATUS, i, "a", NULL, 0);
    }
    failures_merge(&into, &from);
    assert_int_equal(into.len, FAILURES_KINDS);
    assert_int_equal(into.kinds[0].count, 2);
    assert_int_equal(into.kinds[FAILURES_KINDS - 1].detail, 1000);
    assert_int_equal(into.kinds[FAILURES_KINDS - 1].count, 2);
    assert_int_equal(into.overflow, 18);
    assert_int_equal(total(&into), FAILURES_KINDS - 1 + 30);
    failures_merge(&into, &empty);
    assert_int_equal(total(&into), FAILURES_KINDS - 1 + 30);
    failures_merge(&empty, &into);
    assert_int_equal(total(&empty), total(&into));
}

static void check_text(const json_t *o, const char *key, const char *want)
{
    assert_string_equal(json_string_value(json_object_get(o, key)), want);
}

TEST(shown_as_json)
{
    struct failures f = {0};
    const json_t *first;
    json_t *json;

    failures_note(&f, OUTCOME_STATUS, 503, "bu\xff", "a\0b\x80", 4);
    failures_note(&f, OUTCOME_COUNT, 1, "of a later version", NULL, 0);
    f.overflow = 9;
    json = failures_to_json(&f);
    assert_int_equal(json_array_size(json), 3);
    first = json_array_get(json, 0);
    check_text(first, "outcome", "status");
    check_text(first, "text", "bu?");
    check_text(first, "body", "a?b?");
    assert_int_equal(json_integer_value(json_object_get(first, "detail")), 503);
    assert_int_equal(json_integer_value(json_object_get(first, "count")), 1);
    check_text(json_array_get(json, 1), "outcome", "unknown");
    assert_null(json_object_get(json_array_get(json, 1), "body"));
    check_text(json_array_get(json, 2), "text", "of other kinds");
    json_decref(json);
}

/* Cut in the middle of a character: the rest of the text stays readable. */
TEST(a_cut_character_costs_only_itself)
{
    struct failures f = {0};
    char body[FAILURES_BODY + 2];
    json_t *json;

    memset(body, 'x', sizeof(body));
    body[0] = body[FAILURES_BODY - 1] = '\xc3';
    body[1] = body[FAILURES_BODY] = '\xa9';
    failures_note(&f, OUTCOME_STATUS, 500, "", body, sizeof(body));
    json = failures_to_json(&f);
    assert_memory_equal(
        json_string_value(json_object_get(json_array_get(json, 0), "body")),
        "\xc3\xa9xx", 4);
    json_decref(json);
}

TEST(the_most_frequent_come_first)
{
    struct failures f = {0};

    for (int i = 0; i < 5; i++) {
        failures_note(&f, OUTCOME_STATUS, 500 + i, "s", NULL, 0);
        f.kinds[i].count = (i * 3) % 5;
    }
    failures_sort(&f);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(f.kinds[i].count, 4 - i);
    failures_sort(&(struct failures){0});
}
