/* json_parts.h - the parts that the JSON report is put together from. */
#ifndef ANALYZER_REPORT_JSON_PARTS_H
#define ANALYZER_REPORT_JSON_PARTS_H

#include <stdbool.h>

struct json_t;
struct judgement;
struct spread;
struct summary;
struct tiers;

/* All of it; the caller owns the reference. */
struct json_t *json_of_summary(const struct summary *s);

/* name: null, and name_note: why. */
void json_put_nothing(struct json_t *o, const char *name, const char *why);

/* Null where there is no text, or the number is below 0; the caller owns the
 * reference. */
struct json_t *json_text_or_null(const char *text);
struct json_t *json_number_or_null(double value);

/* name_ms: a number, or null and name_note; `ns` may be HIST_BEYOND and the
 * like. */
void json_put_ns(struct json_t *o, const char *name, double ns);

/* A spread, and a list of terms and what became of them; the caller owns the
 * reference. */
struct json_t *json_spread(const struct spread *s);
struct json_t *json_terms(const struct judgement *j);

/* A list of the classes of a mix; empty where there are none. */
void json_put_classes(struct json_t *o, const struct summary *s);

/* What is asked in tiers, and the best that is met; nulls in a window where
 * nothing was due. */
void json_put_tiers(struct json_t *o, const struct tiers *t, bool has_due);

/* Why requests were not good, deadlines of tokens, cost; and what was asked of
 * limits. */
void json_put_goodput(struct json_t *o, const struct summary *s);

/* The server's memory, and energy; nothing where they were not measured. */
void json_put_metered(struct json_t *o, const struct summary *s);

/* What the answers were: tokens, quality, notes. */
void json_put_answers(struct json_t *o, const struct summary *s);

/* Whether the server was overloaded, on its own and with the rest of what is
 * known of the run's state. */
void json_put_steady(struct json_t *o, const struct summary *s);

/* What became of sessions; nothing where there were none. */
void json_put_sessions(struct json_t *o, const struct summary *s);

/* What the server said of itself; nothing where it did not. */
void json_put_server(struct json_t *o, const struct summary *s);

/* Whether the server caches; nothing unless that was asked. */
void json_put_cache(struct json_t *o, const struct summary *s);

/* What MLPerf's rules make of it; nothing where they have no part. */
void json_put_mlperf(struct json_t *o, const struct summary *s);

/* The distribution of its main measure, in rows. */
void json_put_bars(struct json_t *o, const struct summary *s);

/* What to do about the verdict: texts, as they are shown. */
void json_put_next(struct json_t *o, const struct summary *s);

#endif
