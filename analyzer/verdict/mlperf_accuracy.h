/* mlperf_accuracy.h - the accuracy run that belongs to a performance run: a
 * recording with --accuracy and otherwise the same settings.
 *
 * Settings that belong to the mode may differ: how long and at which rate the
 * load runs, which samples are taken, SLO and checks, and the client.  All
 * others that must match in a comparison (docs/compare.md) must match here:
 * scenario, target, model, API, data, and every condition.
 */
#ifndef ANALYZER_VERDICT_MLPERF_ACCURACY_H
#define ANALYZER_VERDICT_MLPERF_ACCURACY_H

struct err;
struct recording;
struct summary;
struct strmap;

/* Digits of the hash of the settings that must match, with the NUL. */
#define MLPERF_HASH 17

/* Hash of what must match, from the conditions of a recording. */
void mlperf_settings_hash(const struct strmap *conditions,
                          char out[static MLPERF_HASH]);

/* Link the accuracy run of `rec`, whose summary is `s`, and set what follows
 * for MLPerf's rules; does nothing unless they apply.  `given` names its
 * directory.  NULL: look next to the recording, and next to the study that it
 * is part of; the newest one that matches counts.  ERR_CONFIG, ERR_IO and
 * ERR_FORMAT for a given one only. */
int mlperf_link_accuracy(struct summary *s, struct recording *rec,
                         const char *given, struct err *err);

#endif
