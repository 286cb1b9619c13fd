#include "tests/support/screen.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void blank(struct screen *s, int row, int from)
{
    memset(s->cell[row] + from, 0, (size_t)(SCREEN_MAX_COLUMNS - from));
}

static void feed_line(struct screen *s)
{
    if (s->row + 1 < s->rows) {
        s->row++;
        return;
    }
    memmove(s->cell[0], s->cell[1], (size_t)(s->rows - 1) * sizeof(s->cell[0]));
    blank(s, s->rows - 1, 0);
}

static void put_char(struct screen *s, char c)
{
    if (c == '\r') {
        s->column = 0;
    } else if (c == '\n') {
        feed_line(s);
    } else if (s->column + 1 >= s->columns) {
        s->has_wrapped = true;
    } else {
        assert_in_range(c, ' ', '~');
        s->cell[s->row][s->column++] = c;
    }
}

/* ESC [ arguments final. */
static void obey(struct screen *s, const char *arguments, char final)
{
    switch (final) {
    case 'A':
        s->row -= (int)strtol(arguments, NULL, 10);
        if (s->row < 0)
            s->row = 0;
        break;
    case 'K':
        blank(s, s->row, s->column);
        break;
    case 'J':
        blank(s, s->row, s->column);
        for (int row = s->row + 1; row < s->rows; row++)
            blank(s, row, 0);
        break;
    case 'm':
        s->has_colour = true;
        break;
    case 'h':
    case 'l':
        assert_memory_equal(arguments, "?25", 3);
        s->is_cursor_hidden = final == 'l';
        s->frames += final == 'h';
        break;
    default:
        fail_msg("an unknown sequence, ending in '%c'", final);
    }
}

void screen_put(struct screen *s, const char *bytes, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        size_t at = i + 2;

        if (bytes[i] != '\x1b') {
            put_char(s, bytes[i]);
            continue;
        }
        while (at < len && strchr("0123456789?;", bytes[at]))
            at++;
        assert_true(at < len && bytes[i + 1] == '[');
        obey(s, bytes + i + 2, bytes[at]);
        i = at;
    }
}

int screen_count(const struct screen *s, const char *start)
{
    int n = 0;

    for (int row = 0; row < s->rows; row++)
        n += strncmp(s->cell[row], start, strlen(start)) == 0;
    return n;
}

int screen_used(const struct screen *s)
{
    int n = 0;

    for (int row = 0; row < s->rows; row++)
        n += s->cell[row][0] != 0;
    return n;
}
