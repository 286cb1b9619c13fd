#include "tests/support/hlog.h"

#include <hdr/hdr_histogram.h>
#include <hdr/hdr_histogram_log.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void add(struct hlog *h, const struct hdr_log_entry *entry,
                struct hdr_histogram *one)
{
    if (h->intervals++ == 0)
        h->first_s = entry->start_timestamp.tv_sec;
    h->last_s = entry->start_timestamp.tv_sec;
    h->count += one->total_count;
    if (h->sum)
        assert_int_equal(hdr_add(h->sum, one), 0); /* none is dropped */
    else
        h->sum = one;
    if (h->sum != one)
        hdr_close(one);
}

struct hlog hlog_read(const char *text, const char *tag)
{
    FILE *file = fmemopen((void *)(uintptr_t)text, strlen(text), "r");
    struct hdr_log_reader reader;
    struct hlog h = {0};
    char name[32] = "";
    int rc;

    assert_non_null(file);
    assert_int_equal(hdr_log_reader_init(&reader), 0);
    assert_int_equal(hdr_log_read_header(&reader, file), 0);
    assert_int_equal(reader.major_version, 1);
    assert_int_equal(reader.minor_version, 3);
    for (;;) {
        struct hdr_log_entry entry = {.tag = name, .tag_len = sizeof(name)};
        struct hdr_histogram *one = NULL;

        memset(name, 0, sizeof(name));
        rc = hdr_log_read_entry(&reader, file, &entry, &one);
        if (rc != 0)
            break;
        if (strcmp(name, tag) == 0)
            add(&h, &entry, one);
        else
            hdr_close(one);
    }
    assert_int_equal(rc, EOF);
    fclose(file);
    return h;
}

void hlog_fini(struct hlog *h)
{
    if (h->sum)
        hdr_close(h->sum);
    *h = (struct hlog){0};
}

int64_t hlog_quantile_ns(const struct hlog *h, double q)
{
    return hdr_value_at_percentile(h->sum, 100 * q);
}
