/* study_page.h - the HTML report of everything but a single run: searches,
 * sweeps, trials, variants, comparisons, scaling, a baseline.
 *
 * It is made from the document alone, by the keys of its JSON, which never
 * change.  What a document lacks is left out.
 */
#ifndef ANALYZER_HTML_STUDY_PAGE_H
#define ANALYZER_HTML_STUDY_PAGE_H

#include <stdbool.h>
#include <stddef.h>

struct buf;
struct doc;
struct err;
struct json_t;
struct page;
struct svg;

/* `origin`: the directory or the words that were asked for; `repeat`: a command
 * that gives the same report. */
void study_page_render(const struct doc *d, const char *origin,
                       const char *repeat, struct buf *out);

/* Its charts alone; false: there is nothing to draw. */
bool study_charts_put(struct page *p, const struct doc *d);

/* A chart of it as SVG: curve, scaling, compare or trials.  ERR_USAGE if the
 * document has no such chart. */
int study_picture_render(const struct doc *d, const char *name, struct buf *out,
                         struct err *err);

/* ---- its parts ---- */

/* A number at a key; NAN if it is missing or null. */
double study_number(const struct json_t *json, const char *key);

/* Element `i` of an array of numbers at a key. */
double study_end(const struct json_t *json, const char *key, unsigned i);

/* What a side of a comparison is called, and "Time to first token, p95" for
 * "ttft p95", which is returned. */
void study_side_name(const struct json_t *json, unsigned side, char *out,
                     size_t size);
const char *study_quantity_title(const char *quantity, char *out, size_t size);

/* A text; "" if there is none. */
const char *study_text(const struct json_t *json, const char *key);

/* Key figures of some kinds stand above the charts (_top).
 * Charts of each kind of document; with `alone` only the main one is drawn
 * there, and false means that there is nothing to draw. */
bool study_put_search(struct page *p, const struct json_t *json,
                      struct svg *alone);
void study_search_top(struct page *p, const struct json_t *json);
void study_trials_top(struct page *p, const struct json_t *json);
void study_sweep_top(struct page *p, const struct json_t *json);
void study_scaling_top(struct page *p, const struct json_t *json);
bool study_put_sweep(struct page *p, const struct json_t *json,
                     struct svg *alone);
bool study_put_trials(struct page *p, const struct json_t *json,
                      struct svg *alone);
bool study_put_variants(struct page *p, const struct json_t *json,
                        struct svg *alone);
bool study_put_scaling(struct page *p, const struct json_t *json,
                       struct svg *alone);
bool study_put_compare(struct page *p, const struct json_t *json,
                       struct svg *alone);
bool study_put_capacities(struct page *p, const struct json_t *json,
                          struct svg *alone);
bool study_put_history(struct page *p, const struct json_t *json,
                       struct svg *alone);
bool study_put_against(struct page *p, const struct json_t *json,
                       struct svg *alone);

#endif
