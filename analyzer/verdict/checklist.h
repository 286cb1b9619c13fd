/* checklist.h - what another person needs to repeat a run, and whether the
 * recording has it. */
#ifndef ANALYZER_VERDICT_CHECKLIST_H
#define ANALYZER_VERDICT_CHECKLIST_H

#include <stdbool.h>
#include <stddef.h>

struct manifest;
struct summary;

#define CHECKLIST_MAX  20
#define CHECKLIST_TEXT 256

struct checklist_item {
    const char *name;
    bool is_present;
    char text[CHECKLIST_TEXT]; /* its content, or how to add it */
};

struct checklist {
    struct checklist_item items[CHECKLIST_MAX];
    size_t len;
    size_t missing;
};

/* No I/O, except to check whether the recording is part of a set of trials. */
void checklist_make(struct checklist *c, const struct summary *s,
                    const struct manifest *m);

/* The caller owns it. */
struct doc *checklist_doc(const struct checklist *c);

#endif
