#include "tests/support/tmpdir.h"

#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tests/support/keep.h"

static char root[64];

int tmpdir_setup(void **state)
{
    (void)state;
    snprintf(root, sizeof(root), "/tmp/tailgate-test-XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_one(const char *name, const struct stat *st, int type,
                      struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(name);
}

int tmpdir_teardown(void **state)
{
    (void)state;
    return nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

const char *tmpdir_root(void)
{
    return root;
}

char *tmpdir_path(const char *name)
{
    return keepf("%s/%s", root, name);
}

char *tmpdir_write(const char *name, const void *data, size_t len)
{
    char *path = tmpdir_path(name);
    FILE *file = fopen(path, "wb");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
    return path;
}
