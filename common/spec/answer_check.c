#include "common/spec/answer_check.h"

#include <jansson.h>
#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/clk.h"
#include "common/base/err.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/wire/tensor.h"

#define MAX_VALUES 64

/* Memory and time of a compiled expression grow with its square. */
#define MAX_REGEX 2000

/* One kind of check. */
struct check_kind {
    const char *name;
    int (*parse)(struct check_rule *r, const char *rest, struct err *err);
    bool (*passes)(const struct check_rule *r, const struct check_answer *a);
};

struct check_rule {
    const struct check_kind *kind;
    char *text; /* TEXT, a pointer, or a name; owned */
    regex_t regex;
    bool has_regex;
    json_t *value; /* expected JSON value; owned */
    double values[MAX_VALUES];
    size_t n_values;
    double tolerance;
    int64_t min;
    int64_t max;
    bool is_exact; /* of a label */
};

/* ---- texts ---- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Without the blanks at both ends. */
static void trim(const char **text, size_t *len)
{
    for (; *len > 0 && is_blank(**text); (*len)--)
        (*text)++;
    while (*len > 0 && is_blank((*text)[*len - 1]))
        (*len)--;
}

static int parse_text(struct check_rule *r, const char *rest, struct err *err)
{
    if (!*rest)
        return err_set(err, ERR_CONFIG, "the text is missing");
    r->text = xstrdup(rest);
    return 0;
}

static bool is_text(const struct check_answer *a, const char *text, size_t len)
{
    const char *content = a->text;
    size_t content_len = a->text_len;

    trim(&content, &content_len);
    return len == content_len && memcmp(text, content, len) == 0;
}

static bool is_exact(const struct check_rule *r, const struct check_answer *a)
{
    return is_text(a, r->text, strlen(r->text));
}

static bool contains(const struct check_rule *r, const struct check_answer *a)
{
    return a->text_len > 0 &&
           memmem(a->text, a->text_len, r->text, strlen(r->text));
}

static int parse_regex(struct check_rule *r, const char *rest, struct err *err)
{
    char why[128];
    int rc;

    if (regexsize_of(rest) > fmax(MAX_REGEX, (double)strlen(rest)))
        return err_set(
            err, ERR_CONFIG,
            "'%.80s' is too large: its repetitions expand to more than %d "
            "parts",
            rest, MAX_REGEX);
    rc = regcomp(&r->regex, rest, REG_EXTENDED | REG_NOSUB);
    if (rc) {
        regerror(rc, &r->regex, why, sizeof(why));
        return err_set(err, ERR_CONFIG, "'%s': %s", rest, why);
    }
    r->has_regex = true;
    return 0;
}

static bool matches(const struct check_rule *r, const struct check_answer *a)
{
    regmatch_t range = {.rm_so = 0, .rm_eo = (regoff_t)a->text_len};

    return regexec(&r->regex, a->text, 1, &range, REG_STARTEND) == 0;
}

/* ---- numbers ---- */

static bool is_near(double got, double wanted, double tolerance)
{
    return fabs(got - wanted) <= tolerance;
}

/* "A = B +- C": A becomes r->text, B is the caller's to free. */
static int split(struct check_rule *r, const char *rest, char **value,
                 struct err *err)
{
    const char *equals = strstr(rest, " = ");
    char *tolerance;
    char *end;

    if (!equals)
        return err_set(err, ERR_CONFIG, "' = ' is missing in '%s'", rest);
    r->text = xstrndup(rest, (size_t)(equals - rest));
    *value = xstrdup(equals + 3);
    tolerance = strstr(*value, "+-");
    if (!tolerance)
        return 0;
    r->tolerance = strtod(tolerance + 2, &end);
    if (end == tolerance + 2 || end[strspn(end, " ")] || !(r->tolerance >= 0))
        return err_set(err, ERR_CONFIG, "'%s' is not a tolerance", tolerance);
    *tolerance = '\0';
    return 0;
}

/* ---- json ---- */

static int parse_json(struct check_rule *r, const char *rest, struct err *err)
{
    char *value = NULL;
    int rc = split(r, rest, &value, err);

    if (rc == 0 && r->text[0] != '/')
        rc = err_set(err, ERR_CONFIG,
                     "'%s' is not a JSON pointer; write /a/0/b", r->text);
    if (rc == 0) {
        r->value = json_loads(value, JSON_DECODE_ANY, NULL);
        if (!r->value)
            rc = err_set(err, ERR_CONFIG,
                         "'%s' is not JSON; write a number, true or \"text\"",
                         value);
    }
    free(value);
    return rc;
}

/* The next name of a JSON pointer, in which "~1" is a slash and "~0" a tilde;
 * returns what follows it. */
static const char *next_name(const char *at, char *name)
{
    for (; *at && *at != '/'; at++) {
        bool is_escape = *at == '~' && at[1] && at[1] != '/';

        if (is_escape)
            at++;
        *name = *at;
        if (is_escape)
            *name = *at == '1' ? '/' : '~';
        name++;
    }
    *name = '\0';
    return at;
}

static const json_t *find(const json_t *at, const char *pointer)
{
    char *name = xstrdup(pointer);

    while (at && *pointer == '/') {
        pointer = next_name(pointer + 1, name);
        if (!json_is_array(at))
            at = json_object_get(at, name);
        else if (*name && !name[strspn(name, "0123456789")])
            at = json_array_get(at, strtoul(name, NULL, 10));
        else
            at = NULL;
    }
    free(name);
    return at;
}

static bool json_passes(const struct check_rule *r,
                        const struct check_answer *a)
{
    json_t *root = json_loadb(a->body, a->body_len, JSON_DECODE_ANY, NULL);
    const json_t *got = find(root, r->text);
    bool passes = json_is_number(r->value) && json_is_number(got)
                      ? is_near(json_number_value(got),
                                json_number_value(r->value), r->tolerance)
                      : got && json_equal(got, r->value);

    json_decref(root);
    return passes;
}

/* ---- tensors ---- */

static int parse_values(struct check_rule *r, const char *text, struct err *err)
{
    for (;;) {
        char *end;

        text += strspn(text, " ,");
        if (!*text)
            break;
        if (r->n_values == MAX_VALUES)
            return err_set(err, ERR_CONFIG, "more than %d values", MAX_VALUES);
        r->values[r->n_values++] = strtod(text, &end);
        if (end == text)
            return err_set(err, ERR_CONFIG, "'%s' is not a number", text);
        text = end;
    }
    return r->n_values > 0 ? 0
                           : err_set(err, ERR_CONFIG, "the value is missing");
}

static int parse_tensor(struct check_rule *r, const char *rest, struct err *err)
{
    char *values = NULL;
    int rc = split(r, rest, &values, err);

    if (rc == 0 && values)
        rc = parse_values(r, values, err);
    free(values);
    return rc;
}

/* Elements are in one list, or in nested lists as the shape is.  *met counts
 * the correct ones; false at the first wrong one. */
static bool are_next(const struct check_rule *r, const json_t *data,
                     size_t *met)
{
    const json_t *got;
    size_t i;

    json_array_foreach(data, i, got)
    {
        if (*met == r->n_values)
            break;
        if (json_is_array(got)) {
            if (!are_next(r, got, met))
                return false;
        } else if (!(json_is_number(got) || json_is_boolean(got)) ||
                   !is_near(json_is_boolean(got) ? json_is_true(got)
                                                 : json_number_value(got),
                            r->values[(*met)++], r->tolerance)) {
            return false;
        }
    }
    return true;
}

static bool are_raw(const struct check_rule *r, const struct tensor_type *type,
                    const char *raw, size_t len)
{
    for (size_t i = 0; i < r->n_values; i++) {
        double got;

        if (!tensor_element(type, raw, len, i, &got) ||
            !is_near(got, r->values[i], r->tolerance))
            return false;
    }
    return true;
}

static bool has_values(const struct check_rule *r, const json_t *outputs,
                       const struct check_answer *a)
{
    size_t offset = 0;
    size_t met = 0;
    const json_t *output;
    size_t i;

    json_array_foreach(outputs, i, output)
    {
        const char *name = json_string_value(json_object_get(output, "name"));
        const struct tensor_type *type = tensor_type_find(
            json_string_value(json_object_get(output, "datatype")));
        json_int_t said = json_integer_value(json_object_get(
            json_object_get(output, "parameters"), "binary_data_size"));
        size_t size = said > 0 ? (size_t)said : 0; /* 0: it is in the JSON */

        if (size > a->raw_len - offset)
            return false;
        if (name && strcmp(name, r->text) == 0)
            return size > 0
                       ? type && are_raw(r, type, a->raw + offset, size)
                       : are_next(r, json_object_get(output, "data"), &met) &&
                             met == r->n_values;
        offset += size;
    }
    return false;
}

static bool tensor_passes(const struct check_rule *r,
                          const struct check_answer *a)
{
    struct check_tensor found = {0};
    json_t *root;
    bool passes;

    if (a->find_tensor)
        return a->find_tensor(a->arg, r->text, &found) &&
               are_raw(r, found.type, found.raw, found.len);
    root = json_loadb(a->body, a->body_len, 0, NULL);
    passes = has_values(r, json_object_get(root, "outputs"), a);
    json_decref(root);
    return passes;
}

/* ---- lengths ---- */

static int parse_length(struct check_rule *r, const char *rest, struct err *err)
{
    char *end;

    r->min = strtoll(rest, &end, 10);
    r->max = r->min;
    if (end != rest && strncmp(end, "..", 2) == 0)
        r->max = strtoll(end + 2, &end, 10);
    if (end == rest || *end || r->min < 0 || r->max < r->min)
        return err_set(err, ERR_CONFIG,
                       "'%s' is not a length; write 16 or 10..20", rest);
    return 0;
}

static bool length_passes(const struct check_rule *r,
                          const struct check_answer *a)
{
    return a->output_tokens != TIME_ABSENT && a->output_tokens >= r->min &&
           a->output_tokens <= r->max;
}

/* ---- labels ---- */

static int parse_label(struct check_rule *r, const char *rest, struct err *err)
{
    if (*rest && strcmp(rest, "exact") != 0 && strcmp(rest, "contains") != 0)
        return err_set(err, ERR_CONFIG,
                       "'%s': write label, label contains or label exact",
                       rest);
    r->is_exact = strcmp(rest, "exact") == 0;
    return 0;
}

/* Blanks around the label are ignored. */
static bool label_passes(const struct check_rule *r,
                         const struct check_answer *a)
{
    const char *label = a->label;
    size_t len = a->label ? a->label_len : 0;

    trim(&label, &len);
    if (len == 0)
        return false;
    return r->is_exact
               ? is_text(a, label, len)
               : a->text_len > 0 && memmem(a->text, a->text_len, label, len);
}

/* ---- lists of checks ---- */

static const struct check_kind kinds[] = {
    {"exact", parse_text, is_exact},
    {"contains", parse_text, contains},
    {"regex", parse_regex, matches},
    {"json", parse_json, json_passes},
    {"tensor", parse_tensor, tensor_passes},
    {"length", parse_length, length_passes},
    {"label", parse_label, label_passes},
};

static int parse(struct check_rule *r, const char *text, struct err *err)
{
    size_t len = strcspn(text, " ");

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (strlen(kinds[i].name) == len &&
            memcmp(kinds[i].name, text, len) == 0)
            r->kind = &kinds[i];
    }
    if (!r->kind)
        return err_set(err, ERR_CONFIG,
                       "'%s' does not begin with exact, contains, regex, json, "
                       "tensor, length or label",
                       text);
    if (r->kind->parse(r, text + len + strspn(text + len, " "), err))
        return err_context(err, "%s", r->kind->name);
    return 0;
}

static void rule_fini(struct check_rule *r)
{
    free(r->text);
    if (r->has_regex)
        regfree(&r->regex);
    json_decref(r->value);
}

int checks_parse(const struct strlist *texts, struct checks *checks,
                 struct err *err)
{
    checks->rules = xcalloc(texts->len, sizeof(*checks->rules));
    checks->len = 0;
    for (size_t i = 0; i < texts->len; i++) {
        if (parse(&checks->rules[checks->len++], texts->items[i], err))
            return -1;
    }
    return 0;
}

void checks_fini(struct checks *checks)
{
    for (size_t i = 0; i < checks->len; i++)
        rule_fini(&checks->rules[i]);
    free(checks->rules);
    *checks = (struct checks){0};
}

int check_check(const char *text, struct err *err)
{
    struct check_rule r = {0};
    int rc = parse(&r, text, err);

    rule_fini(&r);
    return rc;
}

bool checks_need_label(const struct checks *checks)
{
    for (size_t i = 0; i < checks->len; i++) {
        if (checks->rules[i].kind->passes == label_passes)
            return true;
    }
    return false;
}

bool checks_pass(const struct checks *checks, const struct check_answer *a)
{
    for (size_t i = 0; i < checks->len; i++) {
        if (!checks->rules[i].kind->passes(&checks->rules[i], a))
            return false;
    }
    return true;
}
