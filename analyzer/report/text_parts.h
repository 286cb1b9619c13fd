/* text_parts.h - the parts that the text report is put together from. */
#ifndef ANALYZER_REPORT_TEXT_PARTS_H
#define ANALYZER_REPORT_TEXT_PARTS_H

#include <stdbool.h>

#include "common/base/units.h"

struct buf;
struct judgement;
struct slo_term;
struct spread;
struct summary;
struct term_judgement;
struct tiers;

/* A duration, or in a word why there is none; `ns` may be HIST_BEYOND and the
 * like. */
const char *text_show_ns(double ns, char out[static UNITS_TEXT]);

/* What is reported over trials: a duration, a number or a share. */
enum text_kind { TEXT_NS, TEXT_RATE, TEXT_SHARE };

/* Of what a term of an SLO is about. */
enum text_kind text_kind_of(const struct slo_term *term);

/* One of them; "failed" where it lies among the failures. */
const char *text_show_kind(double value, enum text_kind kind,
                           char out[static UNITS_TEXT]);

/* So many digits, all of a larger one, and never an exponent before the point.
 */
const char *text_show_number(double value, int digits,
                             char out[static UNITS_TEXT]);

/* A line for a term, and what became of it. */
void text_put_term(const struct term_judgement *j, struct buf *out);

/* A line for each, unless they are those of a tier: see text_put_tiers(). */
void text_put_terms(const struct judgement *j, struct buf *out);

/* The heading of a table of spreads, and a row of it; none where nothing was
 * measured. */
void text_put_heading(struct buf *out);
void text_put_row(const char *name, const struct spread *p, struct buf *out);

/* Which classes of a mix do not pass. */
void text_put_class_verdicts(const struct summary *s, struct buf *out);

/* The classes of a mix, and the total; nothing where there are none. */
void text_put_classes(const struct summary *s, struct buf *out);

/* What became of each tier, and which is the best that is met; nothing where
 * there are none. */
void text_put_tiers(const struct tiers *t, bool has_due, struct buf *out);

/* Why requests were not good, deadlines of tokens, cost; each where there is
 * something to say. */
void text_put_goodput(const struct summary *s, struct buf *out);

/* The server's memory, and energy; nothing where they were not measured. */
void text_put_metered(const struct summary *s, struct buf *out);

/* How many would be within which limit; nothing unless that was asked. */
void text_put_curve(const struct summary *s, struct buf *out);

/* What the answers were: tokens, quality, warnings.  Nothing where nothing is
 * known of them. */
void text_put_answers(const struct summary *s, struct buf *out);

/* That the server was overloaded, below the verdict; nothing where it was not.
 */
void text_put_overload(const struct summary *s, struct buf *out);

/* The state of the run, and how sure its quantiles are. */
void text_put_steady(const struct summary *s, struct buf *out);

/* What became of sessions; nothing where there were none. */
void text_put_sessions(const struct summary *s, struct buf *out);

/* What the server said of itself; nothing where it did not. */
void text_put_server(const struct summary *s, struct buf *out);

/* Whether the server caches; nothing unless that was asked. */
void text_put_cache(const struct summary *s, struct buf *out);

/* What MLPerf's rules make of it; nothing where they have no part. */
void text_put_mlperf(const struct summary *s, struct buf *out);

/* The distribution of its main measure, in rows; nothing where it has none. */
void text_put_bars(const struct summary *s, struct buf *out);

/* What to do about the verdict. */
void text_put_next(const struct summary *s, struct buf *out);

#endif
