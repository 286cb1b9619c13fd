#include "common/spec/rate_table.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/base/units.h"
#include "common/spec/load_stage.h"

#define MAX_FILE   (8 << 20)
#define MAX_STAGES 100000
#define MAX_NS     4e18

struct row {
    double at_ns;
    double rps;
};

/* What is read so far. */
struct table {
    double speed;
    struct row last;
    size_t rows;
    struct strlist *stages;
};

/* "6:30" or "6:30:15". */
static bool parse_clock(const char *text, double *ns)
{
    long parts[3] = {0};
    size_t n = 0;

    do {
        char *end;

        if (n == 3 || *text < '0' || *text > '9')
            return false;
        parts[n] = strtol(text, &end, 10);
        if (n > 0 && parts[n] > 59)
            return false;
        text = end;
        n++;
    } while (*text++ == ':');
    *ns = (((double)parts[0] * 60 + (double)parts[1]) * 60 + (double)parts[2]) *
          (double)NS_PER_S;
    return n > 1 && text[-1] == '\0';
}

static int parse_time(const char *text, double *ns, struct err *err)
{
    struct err ignored = {0};
    double seconds;
    int64_t whole_ns;

    if (parse_clock(text, ns))
        return 0;
    if (!units_parse_number(text, &seconds, &ignored)) {
        *ns = seconds * (double)NS_PER_S;
        return 0;
    }
    ignored = (struct err){0};
    if (units_parse_duration(text, &whole_ns, &ignored))
        return err_set(err, ERR_CONFIG,
                       "'%s' is not a time; write 6:30, 90m or seconds", text);
    *ns = (double)whole_ns;
    return 0;
}

static int parse_row(char *line, struct row *row, struct err *err)
{
    char *comma = strchr(line, ',');

    if (!comma || strchr(comma + 1, ','))
        return err_set(err, ERR_CONFIG, "'%s': write time,rate: 6:30,40", line);
    *comma = '\0';
    if (parse_time(str_trim(line), &row->at_ns, err))
        return -1;
    return load_stage_parse_rate(str_trim(comma + 1), &row->rps, err);
}

static int add_row(struct table *t, const struct row *row, struct err *err)
{
    double length_ns = (row->at_ns - t->last.at_ns) / t->speed;
    struct load_stage stage = {.from_rps = t->last.rps, .to_rps = row->rps};
    char text[STAGE_TEXT];

    if (t->rows > 0 && length_ns < 0)
        return err_set(err, ERR_CONFIG, "earlier than the row before");
    if (row->at_ns / t->speed > MAX_NS)
        return err_set(err, ERR_CONFIG, "too long after the start");
    if (t->rows > MAX_STAGES)
        return err_set(err, ERR_CONFIG, "more than %d rows", MAX_STAGES);
    stage.length_ns = llround(length_ns);
    if (t->rows++ > 0 && stage.length_ns > 0)
        strlist_add(t->stages, load_stage_print(&stage, text));
    t->last = *row;
    return 0;
}

/* A head of names may stand before the rows. */
static bool is_head(const struct table *t, const char *line)
{
    return t->rows == 0 && !strpbrk(line, "0123456789");
}

static int read_line(struct table *t, char *line, struct err *err)
{
    struct row row = {0};

    line = str_trim(line);
    if (!*line || *line == '#' || is_head(t, line))
        return 0;
    return parse_row(line, &row, err) || add_row(t, &row, err) ? -1 : 0;
}

int ratetable_parse(const char *name, char *text, double speed,
                    struct strlist *stages, struct err *err)
{
    struct table t = {.speed = speed, .stages = stages};
    size_t number = 1;
    char *end;

    for (; text; text = end, number++) {
        end = strchr(text, '\n');
        if (end)
            *end++ = '\0';
        if (read_line(&t, text, err))
            return err_context(err, "%s:%zu", name, number);
    }
    if (stages->len == 0)
        return err_set(err, ERR_CONFIG,
                       "%s: a table of rates has two rows or more, at "
                       "different times",
                       name);
    return 0;
}

int ratetable_read(const char *path, double speed, struct strlist *stages,
                   struct err *err)
{
    char *text;
    int rc;

    if (file_read_text(path, MAX_FILE, &text, err))
        return -1;
    rc = ratetable_parse(path, text, speed, stages, err);
    free(text);
    return rc;
}
