/* The file of a baseline: JSON whose parts are hashed one by one, to tell which
 * one was altered, and all together, so that every alteration shows. */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyzer/studies/baseline.h"
#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/xalloc.h"
#include "common/text/json.h"

#define SCHEMA   1
#define MAX_FILE ((size_t)64 << 20)
#define UNSEALED                                                               \
    "0000000000000000000000000000000000000000000000000000000000000000"

/* In the order of the file; each is an object or an array. */
static const char *const parts[] = {"about", "conditions", "quantities",
                                    "recordings", "answers"};
#define N_PARTS (sizeof(parts) / sizeof(parts[0]))

const char *const baseline_quantity_name[BASELINE_QUANTITIES] = {
    "time_s", "peak_memory_bytes", "throughput_rps", "quality"};

void baseline_fini(struct baseline *b)
{
    for (size_t i = 0; i < b->n_files; i++)
        free(b->files[i].path);
    free(b->files);
    free(b->answers);
    free(b->name);
    free(b->frozen);
    free(b->version);
    free(b->chosen);
    strmap_fini(&b->conditions);
    *b = (struct baseline){0};
}

void baseline_add_file(struct baseline *b, const char *path,
                       const char sha256[static SHA256_TEXT])
{
    struct baseline_file *f;

    b->files = xrealloc(b->files, b->n_files + 1, sizeof(*b->files));
    f = &b->files[b->n_files++];
    f->path = xstrdup(path);
    snprintf(f->sha256, sizeof(f->sha256), "%s", sha256);
}

size_t baseline_check_files(const struct baseline *b, struct buf *out)
{
    size_t bad = 0;

    for (size_t i = 0; i < b->n_files; i++) {
        const struct baseline_file *f = &b->files[i];
        char now[SHA256_TEXT];
        struct err err = {0};

        if (sha256_file(f->path, now, &err)) {
            buf_addf(out, "%s\n", err.msg);
            bad++;
        } else if (strcmp(now, f->sha256) != 0) {
            buf_addf(out, "%s: altered since it was sealed\n", f->path);
            bad++;
        }
    }
    return bad;
}

/* ---- writing ---- */

static json_t *bytes(const char *text)
{
    return json_bytes(text, strlen(text));
}

static void put_missing(json_t *o, const char *name, const char *note)
{
    char *note_key = xasprintf("%s_note", name);

    json_object_set_new(o, name, json_null());
    json_object_set_new(o, note_key, json_string(note));
    free(note_key);
}

static json_t *to_json(const struct baseline *b)
{
    json_t *conditions = json_object();
    json_t *quantities = json_object();
    json_t *recordings = json_object();
    json_t *answers = json_object();

    for (size_t i = 0; i < b->conditions.keys.len; i++)
        json_object_set_new(conditions, b->conditions.keys.items[i],
                            bytes(b->conditions.values.items[i]));
    for (int i = 0; i < BASELINE_QUANTITIES; i++) {
        const struct baseline_amount *a = &b->amounts[i];
        const char *name = baseline_quantity_name[i];

        if (a->is_present)
            json_object_set_new(quantities, name,
                                json_pack("{sf, sf, sf, sI}", "median",
                                          a->median, "least", a->least,
                                          "greatest", a->greatest, "trials",
                                          (json_int_t)a->n));
        else
            put_missing(quantities, name, a->note);
    }
    for (size_t i = 0; i < b->n_files; i++)
        json_object_set_new(recordings, b->files[i].path,
                            json_string(b->files[i].sha256));
    for (size_t i = 0; i < b->n_answers; i++) {
        char index[24];

        snprintf(index, sizeof(index), "%lld", (long long)b->answers[i].index);
        json_object_set_new(answers, index, json_string(b->answers[i].hash));
    }
    return json_pack("{s{si, so, ss, ss, so}, so, so, so, so}", "about",
                     "schema", SCHEMA, "name", bytes(b->name), "frozen",
                     b->frozen, "tailgate", b->version, "chosen",
                     bytes(b->chosen), "conditions", conditions, "quantities",
                     quantities, "recordings", recordings, "answers", answers);
}

static void hash_part(const json_t *part, char out[static SHA256_TEXT])
{
    char *text =
        json_dumps(part, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY);

    sha256_bytes(text ? text : "", text ? strlen(text) : 0, out);
    free(text);
}

/* The seal of the whole file comes last, and is hashed as zeros. */
static json_t *seal_of(const json_t *all)
{
    json_t *o = json_object();

    for (size_t i = 0; i < N_PARTS; i++) {
        char hash[SHA256_TEXT];

        hash_part(json_object_get(all, parts[i]), hash);
        json_object_set_new(o, parts[i], json_string(hash));
    }
    json_object_set_new(o, "file", json_string(UNSEALED));
    return o;
}

/* Position of the seal of the whole file in the text; NULL: not found. */
static char *seal_place(char *text, size_t len)
{
    static const char mark[] = "\"file\": \"";
    char *last = NULL;

    for (char *at = text; (at = memmem(at, len - (size_t)(at - text), mark,
                                       sizeof(mark) - 1)) != NULL;
         at++)
        last = at + sizeof(mark) - 1;
    return last && (size_t)(text + len - last) >= SHA256_TEXT ? last : NULL;
}

/* The hash is of what will be read: printing numbers loses digits. */
static void print_sealed(const struct baseline *b, struct buf *text)
{
    json_t *made = to_json(b);
    json_t *all;

    json_print(made, text);
    json_decref(made);
    all = json_loadb(buf_text(text), text->len, 0, NULL);
    json_object_set_new(all, "seal", seal_of(all));
    buf_reset(text);
    json_print(all, text);
    json_decref(all);
}

static int write_new(const char *path, const struct buf *text, struct err *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444);
    int rc = 0;

    if (fd < 0 && errno == EEXIST)
        return err_set(err, ERR_USAGE,
                       "%s exists; a sealed file is never overwritten", path);
    if (fd < 0 || file_write_all(fd, buf_text(text), text->len) || fsync(fd))
        rc = err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    if (rc && fd >= 0)
        unlink(path);
    return rc;
}

int baseline_save(struct baseline *b, const char *path, struct err *err)
{
    struct buf text;
    char *place;
    int rc;

    buf_init(&text, MAX_FILE);
    print_sealed(b, &text);
    place = text.overflowed ? NULL : seal_place(text.data, text.len);
    if (!place) {
        rc = err_set(err, ERR_IO, "%s: too large for a baseline", path);
    } else {
        sha256_bytes(text.data, text.len, b->seal);
        memcpy(place, b->seal, SHA256_TEXT - 1);
        rc = write_new(path, &text, err);
    }
    buf_fini(&text);
    return rc;
}

/* ---- reading ---- */

/* The part that contains a position of the text. */
static const char *part_at(const char *text, size_t at)
{
    const char *found = "the beginning";

    for (size_t i = 0; i <= N_PARTS; i++) {
        const char *name = i < N_PARTS ? parts[i] : "seal";
        char *key = xasprintf("\n  \"%s\"", name);
        const char *place = strstr(text, key);

        if (place && (size_t)(place - text) <= at)
            found = name;
        free(key);
    }
    return found;
}

static int altered(char *why, const char *path, const char *part)
{
    snprintf(why, BASELINE_WHY, "%s: altered since it was sealed: %s", path,
             part);
    return 1;
}

/* Part by part, then the file as a whole. */
static int verify(const json_t *all, struct buf *text, const char *path,
                  char *why)
{
    const json_t *seal = json_object_get(all, "seal");
    const char *whole = json_string_value(json_object_get(seal, "file"));
    char *place = seal_place(text->data, text->len);
    char hash[SHA256_TEXT];

    for (size_t i = 0; i < N_PARTS; i++) {
        const char *sealed = json_string_value(json_object_get(seal, parts[i]));

        hash_part(json_object_get(all, parts[i]), hash);
        if (!sealed || strcmp(sealed, hash) != 0)
            return altered(why, path, parts[i]);
    }
    if (!whole || strlen(whole) != SHA256_TEXT - 1 || !place)
        return altered(why, path, "seal");
    memcpy(place, UNSEALED, SHA256_TEXT - 1);
    sha256_bytes(text->data, text->len, hash);
    return strcmp(whole, hash) == 0
               ? 0
               : altered(why, path,
                         "seal, or the white space between the parts");
}

static char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));

    return xstrdup(text ? text : "");
}

static void read_parts(struct baseline *b, const json_t *all)
{
    const json_t *about = json_object_get(all, "about");
    const json_t *quantities = json_object_get(all, "quantities");
    json_t *answers = json_object_get(all, "answers");
    const char *key;
    json_t *value;

    b->name = text_of(about, "name");
    b->frozen = text_of(about, "frozen");
    b->version = text_of(about, "tailgate");
    b->chosen = text_of(about, "chosen");
    json_object_foreach(json_object_get(all, "conditions"), key, value)
    {
        strmap_put(&b->conditions, key, json_string_value(value));
    }
    for (int i = 0; i < BASELINE_QUANTITIES; i++) {
        struct baseline_amount *a = &b->amounts[i];
        const json_t *o =
            json_object_get(quantities, baseline_quantity_name[i]);
        char note[40];
        char *text;

        snprintf(note, sizeof(note), "%s_note", baseline_quantity_name[i]);
        text = text_of(quantities, note);
        *a = (struct baseline_amount){
            .is_present = json_is_object(o),
            .median = json_number_value(json_object_get(o, "median")),
            .least = json_number_value(json_object_get(o, "least")),
            .greatest = json_number_value(json_object_get(o, "greatest")),
            .n = json_get_int(o, "trials", 0),
        };
        if (!a->is_present)
            snprintf(a->note, sizeof(a->note), "%s", text);
        free(text);
    }
    json_object_foreach(json_object_get(all, "recordings"), key, value)
    {
        baseline_add_file(b, key, json_string_value(value));
    }
    b->answers = xcalloc(json_object_size(answers) + 1, sizeof(*b->answers));
    json_object_foreach(answers, key, value)
    {
        struct baseline_answer *a = &b->answers[b->n_answers++];
        const char *hash = json_string_value(value);

        a->index = strtoll(key, NULL, 10);
        snprintf(a->hash, sizeof(a->hash), "%s", hash ? hash : "");
    }
    snprintf(b->seal, sizeof(b->seal), "%s",
             json_string_value(
                 json_object_get(json_object_get(all, "seal"), "file")));
}

static int parse(struct baseline *b, struct buf *text, const char *path,
                 char *why)
{
    json_error_t error;
    json_t *all =
        json_loadb(buf_text(text), text->len, JSON_REJECT_DUPLICATES, &error);
    int rc;

    if (!all) {
        char part[BASELINE_NOTE];

        snprintf(part, sizeof(part), "%s (line %d)",
                 part_at(buf_text(text),
                         error.position > 0 ? (size_t)error.position : 0),
                 error.line);
        return altered(why, path, part);
    }
    rc = verify(all, text, path, why);
    if (rc == 0)
        read_parts(b, all);
    json_decref(all);
    return rc;
}

int baseline_load(struct baseline *b, const char *path,
                  char why[static BASELINE_WHY], struct err *err)
{
    struct buf text;
    int rc;

    *b = (struct baseline){0};
    buf_init(&text, MAX_FILE);
    rc = file_read(path, &text, err);
    if (rc == 0 && !strstr(buf_text(&text), "\"seal\"") &&
        !strstr(buf_text(&text), "\"quantities\""))
        rc = err_set(err, ERR_CONFIG, "%s: not a baseline", path);
    if (rc == 0)
        rc = parse(b, &text, path, why);
    buf_fini(&text);
    return rc;
}

/* ---- answers ---- */

static int by_index(const void *a, const void *b)
{
    int64_t x = ((const struct baseline_answer *)a)->index;
    int64_t y = ((const struct baseline_answer *)b)->index;

    return (x > y) - (x < y);
}

/* Malformed lines are skipped: the recording knows how many there are. */
static void add_line(const char *line, size_t len,
                     struct baseline_answer **list, size_t *n)
{
    json_t *o = json_loadb(line, len, 0, NULL);
    const char *text = json_string_value(json_object_get(o, "text"));

    if (text) {
        char hash[SHA256_TEXT];

        *list = xrealloc(*list, *n + 1, sizeof(**list));
        sha256_bytes(text, strlen(text), hash);
        (*list)[*n].index = json_get_int(o, "index", -1);
        snprintf((*list)[*n].hash, BASELINE_ANSWER, "%.16s", hash);
        (*n)++;
    }
    json_decref(o);
}

int baseline_read_answers(const char *dir, struct baseline_answer **list,
                          size_t *n, struct err *err)
{
    char *path = xasprintf("%s/answers.jsonl", dir);
    struct buf text;
    const char *line;
    int rc = 0;

    *list = NULL;
    *n = 0;
    buf_init(&text, MAX_FILE);
    if (access(path, F_OK) == 0)
        rc = file_read(path, &text, err);
    line = buf_text(&text);
    while (rc == 0 && *line) {
        size_t len = strcspn(line, "\n");

        add_line(line, len, list, n);
        line += len + (line[len] == '\n');
    }
    if (*n > 0)
        qsort(*list, *n, sizeof(**list), by_index);
    buf_fini(&text);
    free(path);
    return rc;
}
