#include <string.h>

#include "common/base/buf.h"
#include "tests/support/test.h"

TEST(text_grows_and_ends_with_nul)
{
    struct buf b;

    buf_init(&b, 1000);
    assert_string_equal(buf_text(&b), "");
    assert_int_equal(buf_adds(&b, "ab"), 0);
    assert_int_equal(buf_addf(&b, "%d-%s", 7, "x"), 0);
    assert_int_equal(buf_add(&b, "\0z", 2), 0);
    assert_int_equal(b.len, 7);
    assert_memory_equal(b.data, "ab7-x\0z", 8);
    buf_fini(&b);
    assert_null(b.data);
    buf_fini(&b); /* a second time does no harm */
}

TEST(the_maximum_holds)
{
    struct buf b;

    buf_init(&b, 4);
    assert_int_equal(buf_adds(&b, "abcd"), 0);
    assert_false(b.overflowed);
    assert_int_equal(buf_adds(&b, ""), 0);
    assert_int_equal(buf_adds(&b, "e"), -1);
    assert_int_equal(buf_addf(&b, "%d", 1), -1);
    assert_null(buf_reserve(&b, SIZE_MAX));
    assert_string_equal(buf_text(&b), "abcd");
    assert_true(b.overflowed);
    buf_reset(&b);
    assert_false(b.overflowed);
    assert_string_equal(buf_text(&b), "");
    assert_int_equal(buf_adds(&b, "abcde"), -1);
    assert_int_equal(b.len, 0);
    buf_fini(&b);
}

TEST(reserved_room_may_be_written)
{
    struct buf b;
    char *room;

    buf_init(&b, 100000);
    assert_int_equal(buf_adds(&b, "x"), 0);
    room = buf_reserve(&b, 99999);
    assert_non_null(room);
    memset(room, 'y', 99999);
    b.len += 99999;
    assert_int_equal(b.data[99999], 'y');
    assert_null(buf_reserve(&b, 1));
    buf_fini(&b);
}

TEST(consume_drops_the_front)
{
    struct buf b;

    buf_init(&b, 10);
    buf_consume(&b, 0);
    assert_int_equal(buf_adds(&b, "abcdef"), 0);
    buf_consume(&b, 2);
    assert_string_equal(buf_text(&b), "cdef");
    assert_int_equal(buf_adds(&b, "ghijkl"), 0);
    assert_string_equal(buf_text(&b), "cdefghijkl");
    buf_consume(&b, 10);
    assert_string_equal(buf_text(&b), "");
    assert_int_equal(b.len, 0);
    buf_fini(&b);
}
