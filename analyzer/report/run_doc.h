/* run_doc.h - the document of one run, and the parts of it that other documents
 * share. */
#ifndef ANALYZER_REPORT_RUN_DOC_H
#define ANALYZER_REPORT_RUN_DOC_H

#include <stdbool.h>

struct brief;
struct curve;
struct doc;
struct doc_node;
struct interval;
struct judgement;
struct salvage;
struct spread;
struct summary;
struct shard_rows;
struct target_rows;
struct tiers;

/* The caller owns it. */
struct doc *run_doc(const struct summary *s);

/* Its short form, for doc_set_brief(). */
void run_brief(struct brief *b, const struct doc_node *root);

/* A recording without its manifest: what its table of requests alone says. */
struct doc *salvage_doc(const struct salvage *s);

/* ---- parts of a run's document; nothing is added where it does not apply ----
 */

/* n, failed, mean, quantiles and the greatest value, into `in`. */
void run_doc_spread(struct doc_node *in, const struct spread *s);

/* Trackers keep p50, p90 and p99 of this measure, if it is one that users
 * feel; a value may be a section with a median. */
void run_doc_track(const struct doc_node *quantiles, int measure);

/* "attainment" and its interval, or null where nothing was due. */
void run_doc_attainment(struct doc_node *in, bool has_due, double attainment,
                        const struct interval *ci95);

/* Table "slo": each term, what was measured, and its verdict. */
void run_doc_terms(struct doc_node *in, const struct judgement *j,
                   bool shows_tiers);

/* Each tier with its terms, and the best that is met. */
void run_doc_tiers(struct doc_node *in, const struct tiers *t, bool has_due);

void run_doc_requests(struct doc_node *root, const struct summary *s);
void run_doc_rates(struct doc_node *root, const struct summary *s);

/* Which limits requests that are not good have missed. */
void run_doc_misses(struct doc_node *root, const struct summary *s);
void run_doc_cost(struct doc_node *root, const struct summary *s);
void run_doc_classes(struct doc_node *root, const struct summary *s);

/* A row for each of several targets, and the straggler; nothing if there is
 * one. */
void run_doc_shards(struct doc_node *root, const struct shard_rows *t);
void run_doc_targets(struct doc_node *root, const struct target_rows *t,
                     bool is_streamed);
void run_doc_latencies(struct doc_node *root, const struct summary *s);
void run_doc_distribution(struct doc_node *root, const struct summary *s);

/* How many requests are within which limit; nothing if `c` is NULL. */
void run_doc_curve(struct doc_node *root, const struct curve *c);

/* Tokens, output length, quality, and what is remarkable about the answers. */
void run_doc_answers(struct doc_node *root, const struct summary *s);

/* Overload, warm-up, drift, and how certain the quantiles are. */
void run_doc_steady(struct doc_node *root, const struct summary *s);

void run_doc_sessions(struct doc_node *root, const struct summary *s);
void run_doc_server(struct doc_node *root, const struct summary *s);
void run_doc_cache(struct doc_node *root, const struct summary *s);
void run_doc_mlperf(struct doc_node *root, const struct summary *s);

/* The server's memory, and energy. */
void run_doc_metered(struct doc_node *root, const struct summary *s);

#endif
