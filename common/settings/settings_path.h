/* settings_path.h - paths in a settings file count from where that file is, so
 * that it can be used from anywhere and moved together with what it names. */
#ifndef COMMON_SETTINGS_SETTINGS_PATH_H
#define COMMON_SETTINGS_SETTINGS_PATH_H

struct opt;

/* Where in the text of an option the path begins; NULL: it has none. */
const char *settings_path_in(const struct opt *opt, const char *text);

/* The text of an option as it stands in `file`, with its path, if it has one
 * and that is relative, made one from where we are; the caller owns it. */
char *settings_path_from(const char *file, const struct opt *opt,
                         const char *text);

#endif
