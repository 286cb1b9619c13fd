#include "loadgen/trace/trace.h"

#include <stdio.h>

#include "common/base/err.h"
#include "common/settings/settings.h"

#define MAX_MESSAGE 512

/* The first line that is not empty. */
static int first_line(struct trace *t, struct line *line, struct err *err)
{
    int rc;

    do
        rc = lines_next(&t->lines, line, err);
    while (rc > 0 && line->len == 0 && !line->is_too_long);
    if (rc == 0)
        return err_set(err, ERR_CONFIG, "%s: is empty", t->settings->file);
    if (rc > 0 && line->is_too_long)
        return err_set(err, ERR_CONFIG, "%s: is no text", t->settings->file);
    return rc < 0 ? -1 : 0;
}

int trace_open(struct trace *t, const struct trace_settings *s, struct err *err)
{
    struct line line;

    *t = (struct trace){.settings = s};
    if (lines_open(&t->lines, s->file, err) || first_line(t, &line, err)) {
        err->code = ERR_CONFIG;
        return -1;
    }
    if (parser_init(&t->parser, s, line.at, line.len, err))
        return err_context(err, "%s:%lld", s->file, (long long)line.number);
    t->has_pending = t->parser.format.syntax->read_header == NULL;
    t->pending = line;
    return 0;
}

void trace_fini(struct trace *t)
{
    lines_fini(&t->lines);
    row_fini(&t->row);
}

static int next_line(struct trace *t, struct line *line, struct err *err)
{
    if (!t->has_pending)
        return lines_next(&t->lines, line, err);
    *line = t->pending;
    t->has_pending = false;
    return 1;
}

static bool is_in_order(struct trace *t, struct flaw *flaw)
{
    struct row *row = &t->row;

    if (t->counts.rows > 0 && row->time_ns < t->last_ns) {
        if (t->last_ns - row->time_ns > t->settings->spread_ns) {
            *flaw = (struct flaw){t->parser.format.column[COLUMN_TIME],
                                  "goes back in time"};
            return false;
        }
        row->time_ns = t->last_ns;
    }
    t->last_ns = row->time_ns;
    return true;
}

static int note_damage(struct trace *t, const struct line *line,
                       const struct flaw *flaw, struct err *err)
{
    char message[MAX_MESSAGE];

    t->counts.damaged++;
    snprintf(message, sizeof(message), "%s:%lld: %s%s%s", t->settings->file,
             (long long)line->number, flaw->column ? flaw->column : "",
             flaw->column ? ": " : "", flaw->what);
    if (t->settings->strict)
        return err_set(err, ERR_CONFIG, "%s", message);
    if (t->on_damage)
        t->on_damage(t->arg, message);
    return 0;
}

/* A server cannot be asked for nothing, nor with nothing. */
static void raise_lengths(struct row *row)
{
    if (row->input < 1)
        row->input = 1;
    if (row->output < 1)
        row->output = 1;
}

static bool has_failed(const struct trace *t)
{
    return t->parser.format.zero_is_failure && t->row.output == 0;
}

/* What the line comes to: 1 a row, 0 nothing, -1 an error. */
static int take_line(struct trace *t, const struct line *line, struct err *err)
{
    struct flaw flaw = {NULL, "longer than 4 MiB"};

    if (line->len == 0 && !line->is_too_long)
        return 0;
    if (line->is_too_long ||
        !parser_read(&t->parser, line->at, line->len, &t->row, &flaw))
        return note_damage(t, line, &flaw, err);
    if (has_failed(t)) {
        t->counts.failed++;
        return 0;
    }
    if (!is_in_order(t, &flaw))
        return note_damage(t, line, &flaw, err);
    raise_lengths(&t->row);
    t->counts.rows++;
    return 1;
}

int trace_next(struct trace *t, const struct row **row, struct err *err)
{
    struct line line;
    int rc;

    while ((rc = next_line(t, &line, err)) > 0) {
        rc = take_line(t, &line, err);
        if (rc != 0)
            break;
    }
    *row = &t->row;
    return rc;
}
