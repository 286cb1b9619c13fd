/* Whole streams as servers send them, in tests/corpus/sse: NAME.txt, and what
 * is in it in NAME.events.  However they are cut, the events are those; and on
 * the JSON in them our scanner and jansson agree. */
#include <glob.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/base/err.h"
#include "common/base/file.h"
#include "common/base/rng.h"
#include "common/wire/sse.h"
#include "tests/support/jtree.h"
#include "tests/support/keep.h"
#include "tests/support/ssefeed.h"
#include "tests/support/test.h"

#define SEVERAL     100000
#define RANDOM_CUTS 300 /* ways to cut a stream */

/* ---- the files ---- */

static void read_file(struct buf *out, const char *path)
{
    struct err err = {0};

    buf_init(out, SEVERAL);
    if (file_read(path, out, &err))
        fail_msg("%s", err.msg);
}

/* NAME.events next to NAME.txt */
static void read_expected(struct buf *out, const char *path)
{
    char *expected =
        keepf("%.*s.events", (int)(strlen(path) - strlen(".txt")), path);

    read_file(out, expected);
}

/* Call it with every stream. */
static void for_each_stream(void (*check)(const char *path,
                                          const struct buf *text))
{
    char *pattern =
        keepf("%s/tests/corpus/sse/*.txt", getenv("TAILGATE_SOURCE"));
    glob_t files;

    assert_int_equal(glob(pattern, 0, NULL, &files), 0);
    assert_true(files.gl_pathc > 20);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        struct buf text;

        read_file(&text, files.gl_pathv[i]);
        check(files.gl_pathv[i], &text);
        buf_fini(&text);
    }
    globfree(&files);
}

/* ---- cuts ---- */

struct rig {
    const char *path;
    struct buf expected;
    struct buf seen;
    struct sse sse; /* the same for all, so that nothing may be left over */
};

static void rig_init(struct rig *rig, const char *path)
{
    rig->path = path;
    read_expected(&rig->expected, path);
    buf_init(&rig->seen, SEVERAL);
    sse_init(&rig->sse, SEVERAL, ssefeed_note, &rig->seen);
}

static void rig_fini(struct rig *rig)
{
    sse_fini(&rig->sse);
    buf_fini(&rig->seen);
    buf_fini(&rig->expected);
}

static void rig_begin(struct rig *rig)
{
    buf_reset(&rig->seen);
    sse_begin(&rig->sse);
}

static void rig_check(struct rig *rig, const char *how, size_t which)
{
    int was_cut = sse_finish(&rig->sse);

    buf_addf(&rig->seen, "comments %d, cut off %d\n", (int)rig->sse.comments,
             was_cut);
    if (strcmp(buf_text(&rig->seen), buf_text(&rig->expected)) != 0)
        fail_msg("%s, %s %zu:\n%s", rig->path, how, which,
                 buf_text(&rig->seen));
}

static void check_two_pieces(const char *path, const struct buf *text)
{
    struct rig rig;

    rig_init(&rig, path);
    for (size_t cut = 1; cut <= text->len; cut++) {
        rig_begin(&rig);
        ssefeed_in_pieces(&rig.sse, text->data, text->len, cut, text->len);
        rig_check(&rig, "cut at byte", cut);
    }
    rig_fini(&rig);
}

static void check_equal_pieces(const char *path, const struct buf *text)
{
    struct rig rig;

    rig_init(&rig, path);
    for (size_t step = 1; step <= 70; step++) {
        rig_begin(&rig);
        ssefeed_in_pieces(&rig.sse, text->data, text->len, step, step);
        rig_check(&rig, "in steps of", step);
    }
    rig_fini(&rig);
}

/* Pieces of 0 to most - 1 bytes. */
static void feed_at_random(struct sse *s, const struct buf *text,
                           struct rng *rng, size_t most)
{
    for (size_t used = 0; used < text->len;) {
        size_t piece = (size_t)(rng_next(rng) % most);

        if (piece > text->len - used)
            piece = text->len - used;
        assert_int_equal(ssefeed(s, text->data + used, piece), 0);
        used += piece;
    }
}

static void check_random_pieces(const char *path, const struct buf *text)
{
    struct rng rng = rng_stream(1, RNG_ARRIVAL);
    struct rig rig;

    rig_init(&rig, path);
    for (size_t i = 0; i < RANDOM_CUTS; i++) {
        rig_begin(&rig);
        feed_at_random(&rig.sse, text, &rng, i % 3 == 0 ? 4 : 200);
        rig_check(&rig, "random cut", i);
    }
    rig_fini(&rig);
}

TEST(streams_may_be_cut_anywhere)
{
    for_each_stream(check_two_pieces);
}

TEST(streams_may_come_in_small_steps)
{
    for_each_stream(check_equal_pieces);
}

TEST(streams_may_be_cut_at_many_places)
{
    for_each_stream(check_random_pieces);
}

/* ---- what is in the events ---- */

/* A half of a surrogate pair, which jansson does not take. */
static bool has_half_a_pair(const char *data, size_t len)
{
    return memmem(data, len, "\\uD83D", 6) || memmem(data, len, "\\uDE00", 6);
}

static void compare_json(void *arg, const struct sse_event *event)
{
    json_t *ours = jtree_read(event->data, event->len);
    json_t *theirs = jtree_of_jansson(event->data, event->len, NULL);
    struct jscan s;

    jscan_init(&s, event->data, event->len);
    if (has_half_a_pair(event->data, event->len))
        assert_true(!theirs && jscan_skip(&s) && jscan_end(&s));
    else if (ours ? !json_equal(ours, theirs) : theirs != NULL)
        fail_msg("'%.*s'", (int)event->len, event->data);
    *(int *)arg += ours != NULL;
    json_decref(ours);
    json_decref(theirs);
}

static void check_json(const char *path, const struct buf *text)
{
    struct sse s;
    int count = 0;

    sse_init(&s, SEVERAL, compare_json, &count);
    assert_int_equal(sse_feed(&s, text->data, text->len), 0);
    sse_finish(&s);
    if (count == 0 && !strstr(path, "ends-mixed"))
        fail_msg("%s: no JSON", path);
    sse_fini(&s);
}

TEST(the_json_is_what_jansson_says)
{
    for_each_stream(check_json);
}
