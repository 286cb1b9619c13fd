/* rendered.h - reports as text and as JSON, and what stands in them. */
#ifndef TESTS_SUPPORT_RENDERED_H
#define TESTS_SUPPORT_RENDERED_H

struct json_t;
struct report_ops;
struct summary;

/* See keep.h. */
char *report_rendered(const struct report_ops *ops, const struct summary *s);

/* The long text, as of -v.  See keep.h. */
char *report_verbose(const struct summary *s);

/* This stands somewhere in the text. */
void assert_says(const char *text, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* The report in JSON, which must be well-formed (see keep.h). */
struct json_t *report_parsed(const struct summary *s);

/* What is at "a/b/0", which must be there; keys hold dots. */
const struct json_t *part_at(const struct json_t *json, const char *path);
void assert_number_at(const struct json_t *json, const char *path, double want);
void assert_text_at(const struct json_t *json, const char *path,
                    const char *want);

#endif
