#include "tests/support/rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/base/clk.h"
#include "common/base/err.h"

struct facts row_unsent(int64_t seq, int64_t due_ms)
{
    struct facts f = facts_unknown(seq, due_ms * NS_PER_MS);

    f.outcome = OUTCOME_UNSENT;
    return f;
}

struct facts row_failed(int64_t seq, int64_t due_ms, int64_t e2e_ms,
                        enum outcome outcome)
{
    struct facts f = row_unsent(seq, due_ms);

    f.issued = f.due;
    f.sent = f.due + NS_PER_MS;
    f.end = f.due + e2e_ms * NS_PER_MS;
    f.outcome = outcome;
    return f;
}

struct facts row_ok(int64_t seq, int64_t due_ms, int64_t e2e_ms)
{
    struct facts f = row_failed(seq, due_ms, e2e_ms, OUTCOME_OK);

    f.head = f.end;
    f.first = f.end;
    f.last = f.end;
    f.status = 200;
    return f;
}

struct slo slo_of(const char *terms)
{
    struct slo slo = {0};
    struct err err = {0};

    while (*terms) {
        size_t len = strcspn(terms, ",");
        char text[80];

        snprintf(text, sizeof(text), "%.*s", (int)len, terms);
        assert_int_equal(slo_parse_term(text, &slo.terms[slo.len++], &err), 0);
        terms += len + (terms[len] == ',');
    }
    return slo;
}
