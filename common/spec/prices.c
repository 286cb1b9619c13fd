#include "common/spec/prices.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/text/units.h"

#define MAX_KNOWN  200 /* bytes of names in a message */
#define MAX_COUNT  1e6 /* in "4xL4" */
#define MAX_PREFIX 32  /* "4x" */

enum column { COLUMN_MACHINE, COLUMN_USD, COLUMNS };

static const char *const column_names[] = {"machine", "usd_per_hour"};

static int split(char *line, char *cells[static COLUMNS], struct err *err)
{
    size_t n = 0;
    char *cell;

    while ((cell = strsep(&line, ",")) != NULL && n <= COLUMNS) {
        if (n < COLUMNS)
            cells[n] = str_trim(cell);
        n++;
    }
    if (n == COLUMNS)
        return 0;
    err_set(err, ERR_CONFIG,
            "a line must have two cells: machine,usd_per_hour");
    return -1;
}

/* Find the column of the machine in the first line. */
static int read_head(char *line, size_t *machine_at, struct err *err)
{
    char *cells[COLUMNS] = {NULL};

    if (split(line, cells, err))
        return -1;
    for (*machine_at = 0; *machine_at < COLUMNS; (*machine_at)++) {
        if (strcmp(cells[*machine_at], column_names[COLUMN_MACHINE]) == 0 &&
            strcmp(cells[1 - *machine_at], column_names[COLUMN_USD]) == 0)
            return 0;
    }
    return err_set(
        err, ERR_CONFIG,
        "the first line must name the columns: machine,usd_per_hour");
}

static const struct price *row_of(const struct prices *p, const char *machine)
{
    for (size_t i = 0; i < p->n; i++) {
        if (strcmp(p->list[i].machine, machine) == 0)
            return &p->list[i];
    }
    return NULL;
}

static int read_row(struct prices *p, char *line, size_t number,
                    size_t machine_at, struct err *err)
{
    char *cells[COLUMNS] = {NULL};
    const struct price *before;
    const char *text;
    double usd;
    char *end;

    if (split(line, cells, err))
        return -1;
    if (!*cells[machine_at])
        return err_set(err, ERR_CONFIG, "the machine is missing");
    text = cells[1 - machine_at];
    usd = strtod(text, &end);
    if (end == text || *end || !isfinite(usd) || !(usd > 0))
        return err_set(err, ERR_CONFIG,
                       "usd_per_hour: '%.80s' is not a number above 0", text);
    if (units_check_range(text, usd, err))
        return err_context(err, "usd_per_hour");
    before = row_of(p, cells[machine_at]);
    if (before)
        return err_set(err, ERR_CONFIG,
                       "'%.80s' already has a price in line %zu",
                       before->machine, before->line);
    p->list = xrealloc(p->list, p->n + 1, sizeof(*p->list));
    p->list[p->n++] = (struct price){xstrdup(cells[machine_at]), usd, number};
    return 0;
}

static int read_lines(struct prices *p, char *text, struct err *err)
{
    size_t machine_at = COLUMNS; /* not known yet */
    size_t number = 0;
    char *line;

    while ((line = strsep(&text, "\n")) != NULL) {
        int rc;

        number++;
        line = str_trim(line);
        if (!*line || *line == '#')
            continue;
        rc = machine_at == COLUMNS ? read_head(line, &machine_at, err)
                                   : read_row(p, line, number, machine_at, err);
        if (rc)
            return err_context(err, "%s:%zu", p->name, number);
    }
    return p->n > 0 ? 0
                    : err_set(err, ERR_CONFIG,
                              "%s: the file contains no prices", p->name);
}

int prices_parse(struct prices *p, const char *name, char *text,
                 struct err *err)
{
    *p = (struct prices){.name = xstrdup(name)};
    if (read_lines(p, text, err) == 0)
        return 0;
    prices_fini(p);
    return -1;
}

int prices_read(struct prices *p, const char *path, struct err *err)
{
    char *text;
    int rc;

    *p = (struct prices){0};
    if (file_read_text(path, PRICES_MAX, &text, err))
        return -1;
    rc = prices_parse(p, path, text, err);
    free(text);
    return rc;
}

void prices_fini(struct prices *p)
{
    for (size_t i = 0; i < p->n; i++)
        free(p->list[i].machine);
    free(p->list);
    free(p->name);
    *p = (struct prices){0};
}

/* "4xL4": 4, and `what` is "L4"; otherwise 1 and the whole name. */
static double count_of(const char *machine, const char **what)
{
    char *end;
    double n;

    *what = machine;
    if (!isdigit((unsigned char)machine[0]))
        return 1;
    n = strtod(machine, &end);
    if (*end != 'x' || !end[1] || !(n >= 1 && n <= MAX_COUNT) || n != floor(n))
        return 1;
    *what = end + 1;
    return n;
}

static int refuse(const struct prices *p, const char *machine, struct err *err)
{
    struct suggest s = {.word = machine};
    char prefix[MAX_PREFIX];
    struct buf known;
    char hint[128];
    int rc;

    count_of(machine, &s.word);
    snprintf(prefix, sizeof(prefix), "%.*s", (int)(s.word - machine), machine);
    buf_init(&known, PRICES_MAX);
    for (size_t i = 0; i < p->n; i++) {
        suggest_consider(&s, p->list[i].machine);
        if (known.len < MAX_KNOWN)
            buf_addf(&known, "%s%s", i ? ", " : "", p->list[i].machine);
    }
    rc = s.best
             ? err_set(err, ERR_CONFIG, "%s: no price for '%.80s'%s", p->name,
                       machine, suggest_text(&s, prefix, hint, sizeof(hint)))
             : err_set(err, ERR_CONFIG, "%s: no price for '%.80s'; it has %.*s",
                       p->name, machine, MAX_KNOWN, buf_text(&known));
    buf_fini(&known);
    return rc;
}

int prices_find(const struct prices *p, const char *machine,
                double *usd_per_hour, struct err *err)
{
    const struct price *row = row_of(p, machine);
    double n = 1;

    if (!row) {
        const char *what;

        n = count_of(machine, &what);
        row = row_of(p, what);
    }
    if (!row)
        return refuse(p, machine, err);
    *usd_per_hour = n * row->usd_per_hour;
    return 0;
}

const char *prices_machine(const struct settings *s)
{
    return s->cost.machine ? s->cost.machine
                           : strmap_get(&s->conditions, PRICES_CONDITION);
}

int prices_apply(const struct prices *p, struct settings *s, struct err *err)
{
    const char *machine = prices_machine(s);
    double usd = 0;

    if (!machine)
        return err_set(err, ERR_CONFIG,
                       "%s: the machine is not given (cost.machine or "
                       "conditions." PRICES_CONDITION ")",
                       p->name);
    if (prices_find(p, machine, &usd, err))
        return -1;
    s->cost.usd_per_hour = usd;
    return 0;
}
