/* study_verdict.h - what a study has found: the badge, the headline and the
 * sentences below it, from the JSON of its document. */
#ifndef ANALYZER_HTML_STUDY_VERDICT_H
#define ANALYZER_HTML_STUDY_VERDICT_H

#include "analyzer/html/page.h"

struct json_t;

#define MAX_HEADLINE 512
#define MAX_SUB      4096

struct verdict_of {
    enum tone tone;
    enum icon icon;
    char badge[64];
    const char *note; /* below the badge; NULL: nothing */
    char headline[MAX_HEADLINE];
    char sub[MAX_SUB];
    char next[MAX_HEADLINE]; /* what to do; "": nothing */
};

void study_judge_against(const struct json_t *json, struct verdict_of *v);
void study_judge_capacities(const struct json_t *json, struct verdict_of *v);
void study_judge_compare(const struct json_t *json, struct verdict_of *v);
void study_judge_history(const struct json_t *json, struct verdict_of *v);
void study_judge_scaling(const struct json_t *json, struct verdict_of *v);
void study_judge_search(const struct json_t *json, struct verdict_of *v);
void study_judge_sweep(const struct json_t *json, struct verdict_of *v);
void study_judge_trials(const struct json_t *json, struct verdict_of *v);
void study_judge_variants(const struct json_t *json, struct verdict_of *v);

#endif
