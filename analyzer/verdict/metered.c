#include "analyzer/verdict/metered.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/recording/tgr.h"

#define J_PER_KWH 3.6e6
#define MAX_FILE  ((size_t)256 << 20)

/* Of a line of watts: what a nanosecond counter holds, and a thousand of the
 * largest data centres. */
#define MAX_SECONDS 9e9
#define MAX_WATTS   1e12

/* Looks further than this from an end of the window do not tell what it was
 * there. */
#define FARTHEST_NS (2 * NS_PER_S)

static double between(const struct metered_energy *e, int64_t at_ns, double uj,
                      int64_t want_ns)
{
    double share = at_ns > e->last_ns ? (double)(want_ns - e->last_ns) /
                                            (double)(at_ns - e->last_ns)
                                      : 1;

    return e->last_uj + share * (uj - e->last_uj);
}

/* At an end of the window that lies between two looks, or close to the first
 * or the last of them. */
void metered_add(struct metered_energy *e, const struct window *w,
                 int64_t at_ns, double uj)
{
    if (!e->has_last) {
        e->has_start =
            at_ns >= w->start_ns && at_ns - w->start_ns < FARTHEST_NS;
        e->start_uj = uj;
    } else {
        if (e->last_ns <= w->start_ns && at_ns > w->start_ns) {
            e->has_start = true;
            e->start_uj = between(e, at_ns, uj, w->start_ns);
        }
        if (e->last_ns < w->end_ns && at_ns >= w->end_ns) {
            e->has_end = true;
            e->end_uj = between(e, at_ns, uj, w->end_ns);
        }
        e->has_moved |= uj > e->last_uj;
    }
    e->has_last = true;
    e->last_ns = at_ns;
    e->last_uj = uj;
}

static bool has_end(const struct metered_energy *e, const struct window *w,
                    double *end_uj)
{
    bool is_near = e->has_last && e->last_ns < w->end_ns &&
                   w->end_ns - e->last_ns < FARTHEST_NS;

    *end_uj = e->has_end ? e->end_uj : e->last_uj;
    return e->has_end || is_near;
}

static double per(double amount, double count)
{
    return count > 0 ? amount / count : -1;
}

void metered_take(struct metered *m, const struct metered_energy *e,
                  const struct window *w, const struct metered_share *share)
{
    double end_uj;
    bool is_covered = has_end(e, w, &end_uj) && e->has_start;

    m->note[0] = '\0';
    m->has_energy = is_covered && e->has_moved;
    if (!e->has_last)
        return;
    if (!m->has_energy) {
        snprintf(m->note, sizeof(m->note), "%s",
                 is_covered ? "the counter never moved"
                            : "the looks do not cover the window");
        return;
    }
    m->joules = (end_uj - e->start_uj) / 1e6;
    m->watts = per(m->joules * NS_PER_S, (double)(w->end_ns - w->start_ns));
    m->joules_per_good = per(m->joules, (double)share->good);
    m->joules_per_token = per(m->joules, share->tokens);
    m->co2_g = share->co2_g_per_kwh > 0
                   ? m->joules / J_PER_KWH * share->co2_g_per_kwh
                   : -1;
}

/* ---- from the recording ---- */

static void see(struct metered *m, struct metered_energy *e,
                const struct window *w, const struct meter_reading *look)
{
    m->is_asked = true;
    if (look->memory >= 0) {
        m->has_memory = true;
        if (look->memory > m->peak_bytes)
            m->peak_bytes = look->memory;
    }
    if (look->energy >= 0)
        metered_add(e, w, look->at, (double)look->energy);
}

void metered_read(struct metered *m, const char *dir, const struct window *w,
                  const struct metered_share *share)
{
    char *path = xasprintf("%s/meter.tgr", dir);
    struct metered_energy e = {0};
    struct tgr_reader *reader;
    struct err ignored = {0};
    const void *data;
    size_t n;
    bool is_there = tgr_open(&reader, path, &schema_meter, &ignored) == 0;

    *m = (struct metered){0};
    while (is_there && tgr_next(reader, &data, &n, &ignored) > 0) {
        const struct meter_reading *looks = data;

        for (size_t i = 0; i < n; i++)
            see(m, &e, w, &looks[i]);
    }
    if (is_there)
        tgr_close(reader);
    free(path);
    metered_take(m, &e, w, share);
}

/* ---- from a file of watts ---- */

struct watts {
    struct metered_energy energy;
    double uj; /* so far */
    bool has_last;
    int64_t last_ns;
    double last_w;
};

/* Power is taken to be straight between two lines. */
static void add_watts(struct watts *s, const struct window *w, int64_t at_ns,
                      double watts)
{
    if (s->has_last)
        s->uj += (watts + s->last_w) / 2 * (double)(at_ns - s->last_ns) / 1e3;
    metered_add(&s->energy, w, at_ns, s->uj);
    s->has_last = true;
    s->last_ns = at_ns;
    s->last_w = watts;
}

/* A number of at least 0 and below `limit`, and nothing else. */
static int read_number(char *cell, double limit, double *out)
{
    char *end;

    cell = str_trim(cell);
    *out = strtod(cell, &end);
    return end != cell && !*end && *out >= 0 && *out < limit ? 0 : -1;
}

static int add_line(struct watts *s, const struct window *w, char *line)
{
    char *first = strsep(&line, ",");
    double seconds, watts;
    int64_t at_ns;

    if (!line || read_number(first, MAX_SECONDS, &seconds) ||
        read_number(line, MAX_WATTS, &watts))
        return -1;
    at_ns = (int64_t)(seconds * 1e9);
    if (s->has_last && at_ns <= s->last_ns)
        return -1;
    add_watts(s, w, at_ns, watts);
    return 0;
}

static bool is_heading(const char *line, size_t number)
{
    return number == 1 &&
           (isalpha((unsigned char)*line) || *line == '"' || *line == '#');
}

int metered_parse_watts(struct metered *m, const char *name, char *text,
                        const struct window *w,
                        const struct metered_share *share, struct err *err)
{
    struct watts s = {0};
    size_t number = 0;
    char *line;

    while ((line = strsep(&text, "\n")) != NULL) {
        line = str_trim(line);
        number++;
        if (*line && !is_heading(line, number) && add_line(&s, w, line))
            return err_set(err, ERR_CONFIG,
                           "%s:%zu: not 'seconds since 1970, watts', or not "
                           "later than the line before",
                           name, number);
    }
    m->is_asked = true;
    metered_take(m, &s.energy, w, share);
    if (!s.has_last)
        snprintf(m->note, sizeof(m->note), "the file holds nothing");
    return 0;
}

int metered_read_file(struct metered *m, const char *path, int64_t start_ns,
                      const struct window *w, const struct metered_share *share,
                      struct err *err)
{
    const struct window since_1970 = {start_ns + w->start_ns,
                                      start_ns + w->end_ns};
    char *text;
    int rc;

    if (file_read_text(path, MAX_FILE, &text, err))
        return -1;
    rc = metered_parse_watts(m, path, text, &since_1970, share, err);
    free(text);
    return rc;
}
