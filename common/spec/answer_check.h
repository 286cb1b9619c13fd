/* answer_check.h - is an answer right?  As people write it:
 *
 *   exact TEXT               the content is this, blanks around it aside
 *   contains TEXT
 *   regex EXPRESSION         POSIX extended, anywhere in the content
 *   json /a/0/b = VALUE      a JSON pointer; true, null, "text" or a number,
 *   json /a/0 = 3.5 +- 0.01  which may have a tolerance
 *   tensor NAME = 1 2 3 +- 0.01   the first elements of an output
 *   length 10..20            output tokens
 *   label                    the content has the label of the sample in it
 *   label exact              the content is the label, blanks around it aside
 *
 * Pure.
 */
#ifndef COMMON_SPEC_ANSWER_CHECK_H
#define COMMON_SPEC_ANSWER_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct check_rule;
struct err;
struct strlist;
struct tensor_type;

/* An output, as raw bytes; borrowed. */
struct check_tensor {
    const struct tensor_type *type;
    const char *raw;
    size_t len;
};

/* What there is of an answer; borrowed. */
struct check_answer {
    const char *text; /* its content */
    size_t text_len;
    const char *body; /* JSON: the whole answer, or a stream's content */
    size_t body_len;
    const char *raw; /* behind the JSON, see KServe's binary tensors */
    size_t raw_len;
    int64_t output_tokens; /* TIME_ABSENT: not known */
    const char *label;     /* of the sample; NULL: none */
    size_t label_len;

    /* Of an answer that is no JSON: find the tensor of this name.  NULL: it is
     * JSON. */
    bool (*find_tensor)(void *arg, const char *name,
                        struct check_tensor *tensor);
    void *arg;
};

/* All of them must hold. */
struct checks {
    struct check_rule *rules;
    size_t len;
};

/* ERR_CONFIG.  checks_fini() may follow either way. */
int checks_parse(const struct strlist *texts, struct checks *checks,
                 struct err *err);
void checks_fini(struct checks *checks);

/* For an option table. */
int check_check(const char *text, struct err *err);

/* Does one of them ask for the sample's label? */
bool checks_need_label(const struct checks *checks);

bool checks_pass(const struct checks *checks, const struct check_answer *a);

#endif
