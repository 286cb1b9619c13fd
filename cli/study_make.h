/* study_make.h - how one recording of a sweep or a search is made from the
 * command line. */
#ifndef CLI_STUDY_MAKE_H
#define CLI_STUDY_MAKE_H

#include <stdbool.h>
#include <stdint.h>

#include "cli/record.h"
#include "cli/record_args.h"
#include "cli/settings_args.h"

struct err;
struct point;
struct strlist;

struct study_make {
    const char *const *argv;
    enum settings_block block; /* of the study's own settings */
    struct record_how how;
    size_t variant;  /* whose settings they are, from 1; 0: there is none */
    char title[512]; /* of the next recording; "": none */
    bool is_silent;  /* what came of each is the study's to say */
};

/* The command line for the first time: its own flags too, which hold their
 * defaults, and of the settings what it says, not resolved.
 * settings_args_fini() in any case. */
int study_read_first(struct study_make *m, struct record_args *own,
                     struct settings_args *a, struct err *err);

/* The settings once more, with these over them; settings_args_fini() in any
 * case. */
int study_read(const struct study_make *m, const struct strlist *over,
               struct settings_args *a, struct err *err);

/* A struct study_make as `arg`, for struct point_maker. */
int study_make_point(void *arg, const struct point *point, struct err *err);

#endif
