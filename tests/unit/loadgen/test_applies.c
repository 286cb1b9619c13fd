/* Settings that have no effect, and those that have one. */
#include <string.h>

#include "common/base/err.h"
#include "common/settings/settings.h"
#include "loadgen/prepare/discover.h"
#include "tests/support/test.h"

#define MAX_SETTINGS  3
#define CHAT          "target.url=http://h/v1/chat/completions"
#define INFER         "target.url=http://h/v2/models/m/infer"
#define PREDICT       "target.url=http://h/v1/models/m:predict"
#define EMBEDDINGS    "target.url=http://h/v1/embeddings"
#define RERANK        "target.url=http://h/rerank"
#define PLAIN         "target.url=http://h/"
#define BODY(content) "target.body={" content "}"

static const struct {
    const char *settings[MAX_SETTINGS];
    const char *part; /* of the message; NULL: nothing is refused */
} cases[] = {
    {{CHAT}, NULL},
    {{CHAT, "target.temperature=0"}, NULL},
    {{CHAT, "target.temperature=0", BODY("")}, "--temperature"},
    {{CHAT, "target.ignore_eos=true", BODY("")}, "--ignore-eos"},
    {{CHAT, "target.ignore_eos=true", BODY("{{output_tokens}}")}, NULL},
    {{CHAT, "target.extra_body={\"a\":1}", BODY("")}, "--extra-body"},
    {{CHAT, "data.output_tokens=5", BODY("")}, "{{output_tokens}}"},
    {{CHAT, "data.output_tokens=5", BODY("{{output_tokens}}")}, NULL},
    {{CHAT, "data.input_tokens=5", BODY("[{{prompt_ids}}]")}, NULL},
    {{CHAT, "data.tensors=x FP32 1"}, "--tensor"},
    {{CHAT, "data.documents=3"}, "--documents"},
    {{CHAT, "checks=length 1..2"}, NULL},
    {{CHAT, "checks=length 1..2", BODY("")}, NULL},
    {{CHAT, "checks=tensor y = 1"}, "'tensor'"},
    {{EMBEDDINGS, "target.temperature=0"}, "--temperature"},
    {{EMBEDDINGS, "data.output_tokens=5"}, "--output-len"},
    {{EMBEDDINGS, "data.input_tokens=5"}, NULL},
    {{EMBEDDINGS, "checks=length 1..2"}, "'length'"},
    {{RERANK, "data.documents=3", "target.extra_body={\"top_n\":1}"}, NULL},
    {{RERANK, "data.output_tokens=5"}, "--output-len"},
    {{INFER, "data.tensors=x FP32 1", "data.binary=true"}, NULL},
    {{INFER, "data.binary=true"}, NULL},
    {{INFER, "checks=tensor y = 1"}, NULL},
    {{PREDICT, "data.tensors=x FP32 1"}, NULL},
    {{PREDICT, "data.tensors=x FP32 1", "data.binary=true"}, "--binary"},
    {{PLAIN}, NULL},
    {{PLAIN, "data.input_tokens=256"}, NULL}, /* what it is anyway */
    {{PLAIN, "data.input_tokens=50"}, "no effect with the API http"},
    {{PLAIN, "data.input_tokens=50", BODY("{{prompt}}")}, NULL},
    {{PLAIN, "data.tensors=x FP32 1"}, "--tensor"},
    {{PLAIN, "target.ignore_eos=true"}, "--ignore-eos"},
    {{PLAIN, "checks=length 1..2"}, "'length'"},
    {{PLAIN, "checks=tensor y = 1"}, "'tensor'"},
    {{PLAIN, "checks=contains length 1"}, NULL},
    {{"target.url=http://h/generate", "data.input_tokens=50"}, "tgi or sglang"},
    {{CHAT, "target.method=GET", "data.input_tokens=50"},
     "no effect with the API http"},
};

static void assign(struct settings *s, const char *assignment)
{
    struct err err = {0};

    print_message("%s ", assignment);
    if (settings_assign(s, assignment, &err))
        fail_msg("%s", err.msg);
}

static void check(const char *const *settings, const char *part)
{
    struct settings s;
    struct err err = {0};

    settings_init(&s);
    assign(&s, "load.rate=1");
    for (size_t j = 0; j < MAX_SETTINGS && settings[j]; j++)
        assign(&s, settings[j]);
    assert_int_equal(settings_resolve(&s, &err), 0);
    assert_int_equal(discover_check(&s, &err), part ? -1 : 0);
    print_message("\n  %s\n", err.msg);
    if (part) {
        assert_int_equal(err.code, ERR_CONFIG);
        assert_non_null(strstr(err.msg, part));
    }
    settings_fini(&s);
}

TEST(what_nobody_uses_is_refused)
{
    for (size_t i = 0; i < COUNT(cases); i++)
        check(cases[i].settings, cases[i].part);
}
