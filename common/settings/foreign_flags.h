/* foreign_flags.h - flags of other load generators, and of other commands, that
 * a command does not have, and what to use instead. */
#ifndef COMMON_SETTINGS_FOREIGN_FLAGS_H
#define COMMON_SETTINGS_FOREIGN_FLAGS_H

#include <stddef.h>

struct foreign_flag {
    const char *name;  /* without dashes; one letter: a short flag; `hf-*`: all
                          others that begin so; exact names stand before it */
    const char *tools; /* that have it: "k6" */
    const char *use;   /* the flag to use here, without dashes; NULL: none */
    const char *note;  /* how, or why there is none; NULL if use says it all */
};

extern const struct foreign_flag foreign_flags[];
extern const size_t n_foreign_flags;

/* NULL: no tool in the table has it. */
const struct foreign_flag *foreign_flag_find(const char *name);

#endif
