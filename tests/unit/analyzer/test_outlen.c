/* The mean output of a run against its reference. */
#include <math.h>
#include <string.h>

#include "analyzer/tally/notes.h"
#include "analyzer/tally/tokens.h"
#include "common/settings/settings.h"
#include "tests/support/test.h"

TEST(references)
{
    static const struct {
        double given;
        bool has_lengths;
        int64_t output; /* of ten answers; below 0: not counted */
        enum outlen_source source;
        double reference;
        bool is_ok;
    } cases[] = {
        {0, false, 1000, OUTLEN_NONE, 0, false},
        {100, false, 1000, OUTLEN_SETTING, 100, true},
        {100, true, 1000, OUTLEN_SETTING, 100, true},
        {0, true, 1200, OUTLEN_DATA, 120, true},
        {100, false, 1100, OUTLEN_SETTING, 100, true}, /* both ends in */
        {100, false, 900, OUTLEN_SETTING, 100, true},
        {100, false, 1101, OUTLEN_SETTING, 100, false},
        {100, false, 899, OUTLEN_SETTING, 100, false},
        {1278.2, false, 12782, OUTLEN_SETTING, 1278.2, true},
        {0, true, 600, OUTLEN_DATA, 120, false},
        {100, false, 0, OUTLEN_SETTING, 100, false},
        {100, false, -1, OUTLEN_SETTING, 100, false},
    };

    for (size_t i = 0; i < COUNT(cases); i++) {
        const int64_t output = cases[i].output;
        struct tokens t = {
            .requests = 10,
            .output_asked = {10, 1200},
            .output = {output < 0 ? 0 : 10, output < 0 ? 0 : output}};
        struct data_settings d = {.reference_output = cases[i].given,
                                  .output_tolerance = 0.1};
        struct outlen o = outlen_check(&t, &d, cases[i].has_lengths);
        struct note note;
        bool warns = outlen_note(&o, &t, &note);

        assert_int_equal(o.source, cases[i].source);
        assert_true(o.reference == cases[i].reference);
        assert_int_equal(o.is_ok, cases[i].is_ok);
        assert_int_equal(warns,
                         cases[i].source != OUTLEN_NONE && !cases[i].is_ok);
        if (!warns)
            continue;
        assert_string_equal(note.name, "output_drift");
        assert_int_equal(note.of, llround(10 * cases[i].reference));
        assert_int_equal(note.count, output < 0 ? 0 : output);
        assert_int_equal(strstr(note.text, "does not report token counts") !=
                             NULL,
                         output < 0);
    }
}

TEST(nothing_is_said_of_no_answers)
{
    const struct tokens t = {0};
    const struct data_settings d = {.reference_output = 5,
                                    .output_tolerance = 0.1};
    struct outlen o = outlen_check(&t, &d, true);
    struct note note;

    assert_int_equal(o.source, OUTLEN_SETTING);
    assert_false(outlen_note(&o, &t, &note));
}
