/* settingstext.h - settings from a text, as from a file; after tmpdir_setup().
 */
#ifndef TESTS_SUPPORT_SETTINGSTEXT_H
#define TESTS_SUPPORT_SETTINGSTEXT_H

struct err;
struct settings;

/* Load a file s.yaml of this text, over what is there. */
int load_text(struct settings *s, const char *text, struct err *err);
void must_load(struct settings *s, const char *text);

/* "load.rate=5" */
void must_assign(struct settings *s, const char *assignment);

#endif
