/* git_state.h - is a file under version control, and in which state? */
#ifndef COMMON_BASE_GIT_STATE_H
#define COMMON_BASE_GIT_STATE_H

/* "0123abcd..., unchanged", "..., changed since" or "..., not tracked", by the
 * commit that is checked out where the file is; NULL: no git, or no repository.
 * Asks git, which is waited for; owned by the caller. */
char *git_state(const char *path);

#endif
