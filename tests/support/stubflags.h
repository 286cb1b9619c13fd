/* stubflags.h - flags of `tailgate stub`, without the command. */
#ifndef TESTS_SUPPORT_STUBFLAGS_H
#define TESTS_SUPPORT_STUBFLAGS_H

struct settings;

/* All of them up to a NULL, which must be right. */
void stub_tell(struct settings *s, const char *const *flags);

#endif
