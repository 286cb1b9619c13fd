/* answer_check.h - rules that decide whether an answer is correct:
 *
 *   exact TEXT               the content is this, ignoring blanks around it
 *   contains TEXT
 *   regex EXPRESSION         POSIX extended, anywhere in the content
 *   json /a/0/b = VALUE      a JSON pointer; true, null, "text" or a number,
 *   json /a/0 = 3.5 +- 0.01  which can have a tolerance
 *   tensor NAME = 1 2 3 +- 0.01   the first elements of an output
 *   length 10..20            output tokens
 *   label                    the content contains the label of the sample
 *   label exact              the content is the label, ignoring blanks
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

/* The parts of an answer; borrowed. */
struct check_answer {
    const char *text; /* its content */
    size_t text_len;
    const char *body; /* JSON: the whole answer, or a stream's content */
    size_t body_len;
    const char *raw; /* after the JSON: KServe's binary tensors */
    size_t raw_len;
    int64_t output_tokens; /* TIME_ABSENT: unknown */
    const char *label;     /* of the sample; NULL: none */
    size_t label_len;

    /* Finds the tensor of this name in an answer that is not JSON.  NULL: it is
     * JSON. */
    bool (*find_tensor)(void *arg, const char *name,
                        struct check_tensor *tensor);
    void *arg;
};

/* All rules must hold. */
struct checks {
    struct check_rule *rules;
    size_t len;
};

/* ERR_CONFIG.  checks_fini() may be called in both cases. */
int checks_parse(const struct strlist *texts, struct checks *checks,
                 struct err *err);
void checks_fini(struct checks *checks);

/* For an option table. */
int check_check(const char *text, struct err *err);

/* Does a rule need the sample's label? */
bool checks_need_label(const struct checks *checks);

bool checks_pass(const struct checks *checks, const struct check_answer *a);

#endif
