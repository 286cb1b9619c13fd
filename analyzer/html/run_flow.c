/* What became of every request: due, sent, answered, good, and what fell off
 * on the way. */
#include <math.h>
#include <stdio.h>

#include "analyzer/html/html_text.h"
#include "analyzer/html/page.h"
#include "analyzer/html/run_page.h"
#include "analyzer/tally/summary.h"

#define FULL   58.0 /* height of all requests in pixels */
#define SLIVER 2.2  /* what counts is never invisible */
#define DROPS  74   /* where what fell off is drawn */
#define COLUMN 250
#define BAR    5

static double height_of(int64_t n, int64_t all)
{
    return n > 0 ? fmax(SLIVER, FULL * (double)n / (double)all) : 0;
}

static void put_drop(struct page *p, int column, double from, double height,
                     const char *colour)
{
    double x0 = column * COLUMN + BAR;
    double x1 = (column + 1) * COLUMN;
    double m = (x0 + x1) / 2;

    page_putf(p,
              "<path class=\"f-%s soft2\" d=\"M%g %.1fC%g %.1f %g %d %g %dV%.1f"
              "C%g %.1f %g %.1f %g %.1fZ\"/><rect class=\"f-%s\" x=\"%g\" "
              "y=\"%d\" width=\"%d\" height=\"%.1f\"/>",
              colour, x0, from, m, from, m, DROPS, x1, DROPS, DROPS + height, m,
              DROPS + height, m, from + height, x0, from + height, colour, x1,
              DROPS, BAR, height);
}

static void put_picture(struct page *p, const struct summary *s)
{
    const int64_t stages[] = {s->scheduled, s->issued, s->ok, s->good};
    const char *const drops[] = {"unsent", "fail", "late"};
    double deepest = 0;

    for (int i = 0; i < 3; i++)
        deepest =
            fmax(deepest, height_of(stages[i] - stages[i + 1], s->scheduled));
    page_putf(p,
              "<svg viewBox=\"0 0 1000 %.1f\" height=\"%.1f\" "
              "preserveAspectRatio=\"none\" role=\"img\" aria-label=\"%lld "
              "due, %lld sent, %lld answered, %lld good\">",
              DROPS + deepest + 2, DROPS + deepest + 2, (long long)s->scheduled,
              (long long)s->issued, (long long)s->ok, (long long)s->good);
    for (int i = 0; i < 4; i++) {
        double here = height_of(stages[i], s->scheduled);
        double next = i < 3 ? height_of(stages[i + 1], s->scheduled) : here;

        page_putf(p,
                  "<rect class=\"f-%s soft\" x=\"%d\" width=\"%d\" "
                  "height=\"%.1f\"/><rect class=\"f-%s\" x=\"%d\" width=\"%d\" "
                  "height=\"%.1f\"/>",
                  i > 0 ? "good" : "unsent", i * COLUMN + BAR, COLUMN - BAR,
                  next, i > 1 ? "good" : "ink3", i * COLUMN, BAR, here);
        if (i < 3 && stages[i] > stages[i + 1]) {
            double height = height_of(stages[i] - stages[i + 1], s->scheduled);

            put_drop(p, i, fmax(0, fmax(next, here - height)), height,
                     drops[i]);
        }
    }
    page_put(p, "</svg>\n");
}

/* Kinds of failures in the window.  Messages are counted over the whole run:
 * only their text is of use here. */
static void put_failures(struct page *p, const struct summary *s)
{
    char text[SHOW_TEXT];

    for (int o = 1; o < OUTCOME_COUNT; o++) {
        if (s->outcome[o] == 0 || o == OUTCOME_UNSENT)
            continue;
        page_putf(p, "<small>%s × %s", show_count(s->outcome[o], text),
                  outcome_name((enum outcome)o));
        for (size_t i = 0; i < s->failures.len; i++) {
            const struct failure_kind *f = &s->failures.kinds[i];

            if ((int)f->outcome != o || !f->text[0])
                continue;
            page_put(p, ", such as: ");
            page_text(p, f->text);
            break;
        }
        page_put(p, "</small>");
    }
}

static void put_misses(struct page *p, const struct summary *s)
{
    char text[SHOW_TEXT];
    char limit[SHOW_TEXT];

    for (int i = 0; i < GOOD_LIMITS; i++) {
        const struct limit_misses *m = &s->misses.by[i];

        if (m->only == 0)
            continue;
        if (i == GOOD_CHECK)
            page_putf(p, "<small>%s × wrong answer</small>",
                      show_count(m->only, text));
        else if (s->n_classes > 0) /* each may have a limit of its own */
            page_putf(p, "<small>%s × %s beyond the limit</small>",
                      show_count(m->only, text), misses_name(i));
        else
            page_putf(p, "<small>%s × %s at %s or more</small>",
                      show_count(m->only, text), misses_name(i),
                      show_tick_ns((double)m->limit_ns, limit));
    }
    if (s->misses.several > 0)
        page_putf(p, "<small>%s × several limits</small>",
                  show_count(s->misses.several, text));
}

static void put_stage(struct page *p, int64_t n, const char *words,
                      const char *classes)
{
    char text[SHOW_TEXT];

    page_putf(p, "<div><b%s>%s</b><span>%s</span></div>", classes,
              show_count(n, text), words);
}

static void put_dropped(struct page *p, int64_t n, const char *words,
                        const char *colour)
{
    char text[SHOW_TEXT];

    page_putf(p, "<div%s>", n == 0 ? " class=\"z\"" : "");
    if (n > 0)
        page_putf(p, "<span class=\"sw sw-%s\"></span>", colour);
    page_putf(p, "<b>%s</b> %s", show_count(n, text), words);
}

/* The same in a narrow window: three sums with bars.  The words are those of
 * the whole, the part that goes on and the rest. */
static void put_sum(struct page *p, int64_t all, int64_t part,
                    const char *const words[static 3], const char *colour)
{
    double share = all > 0 ? 100.0 * (double)part / (double)all : 0;
    char a[SHOW_TEXT];
    char b[SHOW_TEXT];
    char c[SHOW_TEXT];

    page_putf(p,
              "<li><b>%s</b> %s = <b>%s</b> %s + <b>%s</b> %s<svg "
              "aria-hidden=\"true\"><rect class=\"f-%s\" width=\"100%%\" "
              "height=\"8\" rx=\"2\"/><rect class=\"f-good\" "
              "width=\"%.1f%%\" height=\"8\" rx=\"2\"/></svg>",
              show_count(all, a), words[0], show_count(part, b), words[1],
              show_count(all - part, c), words[2], colour,
              all > part ? fmin(share, 99) : share);
}

static void put_table(struct page *p, const struct summary *s)
{
    const struct {
        const char *name;
        int64_t n;
    } rows[] = {{"due in the window", s->scheduled},
                {"sent", s->issued},
                {"never sent", s->unsent},
                {"answered", s->ok},
                {"failed", s->failed},
                {"good", s->good},
                {"answered, but beyond a limit", s->ok - s->good}};
    char text[SHOW_TEXT];

    page_table_begin(p, "|requests|of all due");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        page_row(p);
        page_cell(p, rows[i].name);
        page_cell(p, show_count(rows[i].n, text));
        page_cell(
            p, s->scheduled > 0
                   ? show_share((double)rows[i].n / (double)s->scheduled, text)
                   : "–");
    }
    page_table_end(p);
}

void run_flow_put(struct page *p, const struct summary *s)
{
    char text[SHOW_TEXT];

    page_section_begin(p, "requests", "What became of every request", NULL,
                       false);
    page_section_body(p);
    page_put(p, "<div class=\"flow\"><div><div class=\"cols\">");
    put_stage(p, s->scheduled, "were due", "");
    put_stage(p, s->issued, "were sent", "");
    put_stage(p, s->ok, "were answered", "");
    put_stage(p, s->good, "were good", " class=\"goodn\"");
    page_put(p, "</div>\n");
    if (s->scheduled > 0)
        put_picture(p, s);
    page_put(p, "<div class=\"drops\"><div></div>");
    put_dropped(p, s->unsent, "unsent", "unsent");
    page_put(p, "</div>");
    put_dropped(p, s->failed, "failed", "fail");
    put_failures(p, s);
    page_put(p, "</div>");
    put_dropped(p, s->ok - s->good, "too late", "late");
    put_misses(p, s);
    page_put(p, "</div></div>\n<ul class=\"eq\">");
    put_sum(p, s->scheduled, s->issued,
            (const char *const[]){"due", "sent", "unsent"}, "unsent");
    page_put(p, "</li>");
    put_sum(p, s->issued, s->ok,
            (const char *const[]){"sent", "answered", "failed"}, "fail");
    put_failures(p, s);
    page_put(p, "</li>");
    put_sum(p, s->ok, s->good,
            (const char *const[]){"answered", "good", "too late"}, "late");
    put_misses(p, s);
    page_put(p, "</li></ul>\n<p class=\"ident\">Every request that was due in "
                "the window is in exactly one place.");
    if (s->warmup_requests > 0)
        page_putf(p, " %s more were sent in the warm-up and are not counted.",
                  show_count(s->warmup_requests, text));
    page_put(p, " Slivers are drawn at least 2 px high.</p>");
    put_table(p, s);
    page_put(p, "</div>\n");
    page_section_end(p);
}
