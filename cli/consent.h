/* consent.h - what the settings of a recording would do on this machine.
 *
 * A recording may come from somebody else.  The commands, key sources and
 * files that its manifest names are used only if the user agrees: without
 * consent, rerun would run a stranger's command, or send a key or a file to a
 * stranger's URL.  What the user gives on the command line needs no consent.
 */
#ifndef CLI_CONSENT_H
#define CLI_CONSENT_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct settings;

#define CONSENT_FLAG "allow-commands"

struct consent_item {
    char *where;  /* "server.start", "classes: chat: target.body"; owned */
    char *text;   /* owned until it is put back */
    char **field; /* of the settings; NULL: the text stayed there */
};

struct consent {
    struct consent_item *items;
    size_t len;
};

/* Take these texts out of settings that come from a recording, before flags
 * are applied, so that what the user gives can be told apart. */
void consent_take(struct consent *c, struct settings *s);

/* Forget the text that was taken out of this field: it is not used. */
void consent_drop(struct consent *c, char *const *field);

/* Put back what the user did not give, after printing it.  ERR_CONFIG, with
 * keys and values, if there is any and it is not allowed; values that do not
 * fit into the message are logged before. */
int consent_settle(struct consent *c, bool is_allowed, struct err *err);

void consent_fini(struct consent *c);

#endif
