#include "loadgen/trace/trace.h"

#include <stdio.h>

#include "common/base/err.h"
#include "common/settings/settings.h"

#define MAX_MESSAGE 512

int trace_open(struct trace *t, const struct trace_settings *s, struct err *err)
{
    struct line line;
    int rc;

    *t = (struct trace){.settings = s};
    rc = lines_open(&t->lines, s->file, err) ? -1 : 1;
    while (rc > 0) { /* to the first line that is not empty */
        rc = lines_next(&t->lines, &line, err);
        if (rc > 0 && (line.len > 0 || line.is_too_long))
            break;
    }
    if (rc == 0)
        err_set(err, ERR_CONFIG, "%s: is empty", s->file);
    else if (rc > 0 && line.is_too_long)
        rc = err_set(err, ERR_CONFIG, "%s: is not a text file", s->file);
    if (rc <= 0) {
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

/* Parse a line: 1 if it is a row, 0 if it is skipped, -1 on an error. */
static int take_line(struct trace *t, const struct line *line, struct err *err)
{
    const struct trace_format *format = &t->parser.format;
    struct flaw flaw = {NULL, "longer than 4 MiB"};
    struct row *row = &t->row;

    if (line->len == 0 && !line->is_too_long)
        return 0;
    if (line->is_too_long ||
        !parser_read(&t->parser, line->at, line->len, row, &flaw))
        return note_damage(t, line, &flaw, err);
    if (format->zero_is_failure && row->output == 0) {
        t->counts.failed++;
        return 0;
    }
    if (t->counts.rows > 0 && row->time_ns < t->last_ns) {
        flaw = (struct flaw){format->column[COLUMN_TIME], "goes back in time"};
        if (t->last_ns - row->time_ns > t->settings->spread_ns)
            return note_damage(t, line, &flaw, err);
        row->time_ns = t->last_ns;
    }
    t->last_ns = row->time_ns;
    if (row->input < 1) /* a request needs at least one token each way */
        row->input = 1;
    if (row->output < 1)
        row->output = 1;
    t->counts.rows++;
    return 1;
}

int trace_next(struct trace *t, const struct row **row, struct err *err)
{
    struct line line;
    int rc;

    do {
        rc = t->has_pending ? 1 : lines_next(&t->lines, &line, err);
        if (t->has_pending)
            line = t->pending;
        t->has_pending = false;
        if (rc <= 0)
            break;
        rc = take_line(t, &line, err);
    } while (rc == 0);
    *row = &t->row;
    return rc;
}
