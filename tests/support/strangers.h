/* strangers.h - numbers of a text that its JSON does not have, and the other
 * way round. */
#ifndef TESTS_SUPPORT_STRANGERS_H
#define TESTS_SUPPORT_STRANGERS_H

struct json_t;

/* How many there are, each of which is printed.  A number is known if one of
 * the JSON, in the unit that stands behind it and without its sign, rounds to
 * it, or if a text or key of the JSON has it.  `names` are words that are no
 * numbers though they have digits, besides the usual ones; it ends with NULL,
 * or is it.
 */
int strangers_in(const char *text, const struct json_t *json,
                 const char *const *names);

/* How many numbers of the JSON the text does not show, rounded as they may be,
 * each of which is printed; what there is none of, 0, need not be said. */
int unsaid_in(const char *text, const struct json_t *json);

#endif
