#include "cli/report_html.h"

#include <errno.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/html/page.h"
#include "analyzer/html/run_page.h"
#include "analyzer/html/study_page.h"
#include "analyzer/read/reader.h"
#include "analyzer/report/brief.h"
#include "analyzer/tally/summary.h"
#include "cli/cli.h"
#include "cli/live.h"
#include "cli/report_out.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/log.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"

#define MAX_BRIEF ((size_t)1 << 20)

extern char **environ;

static int write_file(const char *file, const struct buf *text, struct err *err)
{
    if (text->overflowed)
        return err_set(err, ERR_IO, "%s: the page is too large", file);
    return file_replace(file, text->data, text->len, err);
}

/* ---- pages ---- */

int report_html_run(const struct summary *s, const struct run_bins *bins,
                    const struct recording *rec, const char *again,
                    const char *file, struct err *err)
{
    const struct run_page page = {
        .s = s, .bins = bins, .manifest = &rec->manifest, .again = again};
    struct buf out;
    int rc;

    buf_init(&out, PAGE_MAX);
    run_page_render(&page, &out);
    rc = write_file(file, &out, err);
    if (rc == 0)
        log_note("page       %s", file);
    buf_fini(&out);
    return rc;
}

/* ---- pictures ---- */

static bool ends_in(const char *text, const char *end)
{
    size_t n = strlen(text);
    size_t m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

/* rsvg-convert reads a file next to the picture, at twice the size. */
static int convert(const char *svg, const char *png, struct err *err)
{
    char *argv[] = {(char *)"rsvg-convert",
                    (char *)"--zoom=2",
                    (char *)"--output",
                    (char *)png,
                    (char *)svg,
                    NULL};
    int status = 0;
    pid_t pid;
    int rc = posix_spawnp(&pid, argv[0], NULL, NULL, argv, environ);

    if (rc)
        return err_set(err, ERR_CONFIG,
                       "%s: PNG requires rsvg-convert (package librsvg2-bin): "
                       "%s",
                       png, strerror(rc));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0
               ? 0
               : err_set(err, ERR_IO, "%s: rsvg-convert failed", png);
}

static int write_png(const char *file, const struct buf *svg, struct err *err)
{
    char *temporary = xasprintf("%s.svg", file);
    int rc = write_file(temporary, svg, err);

    if (rc == 0)
        rc = convert(temporary, file, err);
    unlink(temporary);
    free(temporary);
    return rc;
}

/* The name before '=', owned by the caller, and the file after it or NULL. */
static char *split_asked(const char *asked, const char **file)
{
    size_t len = strcspn(asked, "=");

    *file = asked[len] ? asked + len + 1 : NULL;
    return xstrndup(asked, len);
}

static int write_picture(const char *file, const struct buf *svg,
                         struct err *err)
{
    return ends_in(file, ".png") ? write_png(file, svg, err)
                                 : write_file(file, svg, err);
}

int report_svg_run(const struct summary *s, const struct run_bins *bins,
                   const struct recording *rec, const char *asked,
                   struct err *err)
{
    const struct run_page page = {
        .s = s, .bins = bins, .manifest = &rec->manifest};
    const char *file;
    char *name = split_asked(asked, &file);
    struct buf out;
    int rc;

    buf_init(&out, PAGE_MAX);
    rc = run_picture_render(&page, name, &out, err);
    if (rc == 0 && file)
        rc = write_picture(file, &out, err);
    if (rc == 0)
        rc = file ? exit_status_of_run(s)
                  : cli_print_report(&out, exit_status_of_run(s), err);
    buf_fini(&out);
    free(name);
    return rc;
}

/* ---- other documents ---- */

void report_again(const struct opt_set *flags, const struct strlist *words,
                  struct buf *out)
{
    /* They say where the answer goes, and how it is printed. */
    static const char *const output[] = {"html",     "svg",    "md",
                                         "junit",    "json",   "verbose",
                                         "no-color", "format", NULL};

    for (size_t i = 0; i < words->len; i++) {
        buf_adds(out, i > 0 ? " " : "");
        str_add_quoted(out, words->items[i]);
    }
    opt_put_given(flags, output, out);
}

/* "tailgate report DIR" */
static void put_command(const struct report_to *to, struct buf *out)
{
    buf_addf(out, "tailgate %s ", to->command);
    if (to->again) /* flags only: they begin with a space */
        buf_adds(out, to->again + strspn(to->again, " "));
    else
        str_add_quoted(out, to->words);
}

static void put_page(const struct doc *d, const struct report_to *to,
                     const char *file, struct buf *out)
{
    struct buf repeat;

    buf_init(&repeat, MAX_BRIEF);
    put_command(to, &repeat);
    buf_adds(&repeat, " --html ");
    str_add_quoted(&repeat, file);
    study_page_render(d, to->words, buf_text(&repeat), out);
    buf_fini(&repeat);
}

static int write_page(const struct doc *d, const struct report_to *to,
                      struct err *err)
{
    struct buf out;
    int rc;

    buf_init(&out, PAGE_MAX);
    put_page(d, to, to->output->html, &out);
    rc = write_file(to->output->html, &out, err);
    if (rc == 0)
        log_note("page       %s", to->output->html);
    buf_fini(&out);
    return rc;
}

static int put_picture(const struct doc *d, const char *asked, int status,
                       struct err *err)
{
    const char *file;
    char *name = split_asked(asked, &file);
    struct buf out;
    int rc;

    buf_init(&out, PAGE_MAX);
    rc = study_picture_render(d, name, &out, err);
    if (rc == 0 && file)
        rc = write_picture(file, &out, err) ? -1 : status;
    else if (rc == 0)
        rc = cli_print_report(&out, status, err);
    buf_fini(&out);
    free(name);
    return rc;
}

static int print_brief(struct doc *taken, const struct report_to *to,
                       int status, struct err *err)
{
    struct brief_style style = {
        .columns = terminal_columns(STDOUT_FILENO, BRIEF_COLUMNS),
        .has_colour = terminal_has_colour(STDOUT_FILENO, to->output->no_colour),
        .dir = to->is_recorded ? to->words : NULL,
    };
    struct buf more;
    struct buf out;
    int rc;

    buf_init(&more, MAX_BRIEF);
    put_command(to, &more);
    buf_adds(&more, " -v");
    style.more = buf_text(&more);
    buf_init(&out, MAX_BRIEF);
    doc_render_brief(taken, &style, &out);
    doc_free(taken);
    rc = cli_print_drawn(&out, status, err);
    buf_fini(&out);
    buf_fini(&more);
    return rc;
}

int report_doc(struct doc *taken, const struct report_to *to, int status,
               struct err *err)
{
    int rc = to->output->html ? write_page(taken, to, err) : 0;

    if (to->page)
        put_page(taken, to, REPORT_HTML_NAME, to->page);
    if (rc == 0)
        rc = report_write(taken, to->output, to->words, err);
    if (rc == 0 && !to->output->svg)
        return to->format == DOC_AS_BRIEF
                   ? print_brief(taken, to, status, err)
                   : report_print_doc(taken, to->format, status, err);
    if (rc == 0)
        rc = put_picture(taken, to->output->svg, status, err);
    doc_free(taken);
    return rc;
}

int report_made(struct doc *taken, struct report_to *to,
                const struct opt_set *flags, const struct strlist *words,
                int status, struct err *err)
{
    struct buf shown;
    struct buf again;
    int rc;

    if (report_format(to->output, report_plain_names, &to->format, err)) {
        doc_free(taken);
        return -1;
    }
    buf_init(&shown, MAX_BRIEF);
    for (size_t i = 0; i < words->len; i++)
        buf_addf(&shown, "%s%s", i > 0 ? " " : "", words->items[i]);
    if (!to->words)
        to->words = buf_text(&shown);
    buf_init(&again, MAX_BRIEF);
    report_again(flags, words, &again);
    to->again = buf_text(&again);
    rc = report_doc(taken, to, status, err);
    buf_fini(&shown);
    buf_fini(&again);
    return rc;
}
