/* What HdrHistogram's readers get is what was counted. */
#include <hdr/hdr_histogram.h>
#include <hdr/hdr_histogram_log.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/rng.h"
#include "common/stats/hist.h"
#include "tests/support/test.h"

#define SAMPLES 5000
#define FAILED  17

/* From 1 ns to 22 minutes. */
static void fill(struct hist *h, int64_t n)
{
    struct rng rng = {.state = 5};

    for (int64_t i = 0; i < n; i++)
        hist_add(h, llround(exp2(rng_uniform(&rng) * 40.3)));
}

TEST(a_decoded_histogram_has_the_same_counts)
{
    static const int64_t sizes[] = {0, 1, 2, SAMPLES};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct hdr_histogram *back = NULL;
        struct hist h = {0};
        struct err err = {0};
        struct buf out;

        fill(&h, sizes[i]);
        hist_add_beyond(&h, FAILED); /* is not in it */
        buf_init(&out, 1 << 20);
        assert_int_equal(hist_encode(&h, &out, &err), 0);
        assert_int_equal(hdr_log_decode(&back, out.data, out.len), 0);
        assert_int_equal(back->total_count, sizes[i]);
        for (int32_t k = 0; h.hdr && k < back->counts_len; k++)
            assert_int_equal(back->counts[k], h.hdr->counts[k]);
        hdr_close(back);
        buf_fini(&out);
        hist_fini(&h);
    }
}

/* Of a .hgrm, all that is no comment. */
struct table {
    int lines;
    double value, share, inverse; /* of the last line */
    long long count;
};

/* Neither values nor shares nor counts go down, and each is the quantile. */
static void read_line(const char *line, const struct hist *h, struct table *t)
{
    char *at;
    double value = strtod(line, &at);
    double share = strtod(at, &at);
    long long count = strtoll(at, &at, 10);
    const char *before = at;
    double inverse = strtod(at, &at);

    assert_int_equal(before == at, share == 1); /* the last has none */
    assert_int_equal(*at, '\0');
    assert_true(value >= t->value && share >= t->share && count >= t->count);
    if (share < 1)
        assert_true(fabs(inverse * (1 - share) - 1) < 0.01);
    /* It is the upper end of its bucket, ours the middle. */
    assert_true(fabs(value * 1e6 - (double)hist_at_rank(h, count)) <=
                1 + value * 1e3);
    *t = (struct table){t->lines + 1, value, share, inverse, count};
}

static struct table read_table(char *text, const struct hist *h)
{
    struct table t = {0};
    char *rest;
    char *line = strtok_r(text, "\n", &rest);

    assert_non_null(strstr(line, "Value"));
    assert_non_null(strstr(line, "1/(1-Percentile)"));
    while ((line = strtok_r(NULL, "\n", &rest)) && line[0] != '#')
        read_line(line, h, &t);
    return t;
}

TEST(percentiles_go_up_to_one)
{
    struct hist h = {0};
    struct buf out;
    struct table t;

    fill(&h, SAMPLES);
    hist_add_beyond(&h, FAILED);
    buf_init(&out, 1 << 20);
    hist_print_percentiles(&h, 1e6, &out);
    assert_non_null(strstr(buf_text(&out), "Total count    =         5000]"));
    t = read_table(out.data, &h);
    assert_true(t.lines > 20);
    assert_true(t.share == 1);
    assert_true(t.count == SAMPLES);
    buf_fini(&out);
    hist_fini(&h);
}

TEST(nothing_has_a_table_without_lines)
{
    struct hist h = {0};
    struct buf out;

    hist_add_beyond(&h, FAILED);
    buf_init(&out, 1 << 20);
    hist_print_percentiles(&h, 1e6, &out);
    assert_non_null(strstr(buf_text(&out), "Total count    =            0]"));
    assert_null(strstr(buf_text(&out), "nan"));
    assert_int_equal(read_table(out.data, &h).lines, 0);
    buf_fini(&out);
}
