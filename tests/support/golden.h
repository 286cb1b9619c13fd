/* golden.h - whole reports against files in tests/golden.
 *
 * TAILGATE_GOLDEN=write writes the files instead: look at the difference that
 * git shows before you commit it.
 */
#ifndef TESTS_SUPPORT_GOLDEN_H
#define TESTS_SUPPORT_GOLDEN_H

struct doc;
struct doc_node;
struct json_t;
struct summary;

/* The text is that of tests/golden/NAME. */
void assert_golden(const char *name, const char *text);

/* The document's text is that of tests/golden/NAME.txt, its JSON that of
 * NAME.json, and its short form, if it has one, that of NAME.brief.txt.  Frees
 * the document. */
void assert_golden_doc(const char *name, struct doc *taken);

/* The document as text, as the short form or as JSON, which the caller owns.
 * All free it. */
char *doc_text_of(struct doc *taken);
char *doc_brief_of(struct doc *taken);
struct json_t *doc_json_of(struct doc *taken);

/* A document of one part of a run's. */
struct doc *doc_of_part(void (*add)(struct doc_node *root,
                                    const struct summary *s),
                        const struct summary *s);

#endif
