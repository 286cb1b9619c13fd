/* What is wrong on this side is said before anything is sent: the same by `run`
 * and `validate`, with the same exit code.  No server listens at the target. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/base/xalloc.h"
#include "tests/support/certs.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define URL "https://127.0.0.1:1/"

static int setup(void **state)
{
    if (certs_setup(state))
        return -1;
    tmpdir_write("text", "no certificate\n", 15);
    return 0;
}

/* Both commands, with the same flags; a word "~x" is the scratch file x. */
static void must_refuse(const char *const *flags, int status, const char *want,
                        void (*prepare)(void))
{
    static const char *const commands[] = {"run", "validate"};
    const char *argv[16] = {"tailgate", NULL, URL, "--rate", "5"};
    char *owned[8];
    size_t n = 0;

    for (; flags[n]; n++) {
        owned[n] =
            xstrdup(flags[n][0] == '~' ? tmpdir_path(flags[n] + 1) : flags[n]);
        argv[5 + n] = owned[n];
    }
    for (size_t i = 0; i < COUNT(commands); i++) {
        struct proc_result r;
        struct proc p;

        argv[1] = commands[i];
        p = proc_start_with(argv, prepare);
        r = proc_wait(&p);
        if (r.status != status || !strstr(r.err, want))
            fail_msg("%s %s: exit %d, said: %s", commands[i], flags[0],
                     r.status, r.err);
        assert_string_equal(r.out, "");
    }
    while (n > 0)
        free(owned[--n]);
}

static const struct {
    const char *flags[7];
    const char *want;
} settings[] = {
    {{"--cacert", "~nowhere"}, "/nowhere: No such file or directory"},
    {{"--cacert", "~text"}, "/text: no certificates in it"},
    {{"--cert", "~client.pem"}, "--cert requires --key"},
    {{"--key", "~client.key"}, "--key requires --cert"},
    {{"--cert", "~nowhere", "--key", "~client.key"},
     "/nowhere: No such file or directory"},
    {{"--cert", "~text", "--key", "~client.key"},
     "/text: no certificate in it"},
    {{"--cert", "~client.pem", "--key", "~text"},
     "/text: no key in it, or one with a passphrase"},
    {{"--cert", "~client.pem", "--key", "~server.key"},
     "/server.key: does not belong to "},
    {{"--proxy", "http://127.0.0.1:1", "--unix-socket", "/x"},
     "--proxy cannot be combined with --unix-socket"},
    {{"--body", "@/no/such"}, "--body: /no/such: No such file"},
    {{"--auth-file", "/no/such"}, "--auth-file: /no/such: No such file"},
    {{"--auth-env", "TAILGATE_UNSET"},
     "--auth-env: the variable 'TAILGATE_UNSET' is not set"},
    {{"--auth-env", "HOME", "-H", "AUTHORIZATION: x"},
     "--auth-env cannot be combined with a header Authorization"},
    {{"--auth-file", "~text", "-H", "authorization: x"},
     "--auth-file cannot be combined with a header Authorization"},
    {{"-H", "Host:"}, "--header: Host must not be empty"},
    {{"--transport", "native", "--unix-socket", "s"},
     "--transport: the native transport does not support unix sockets"},
};

TEST(settings_that_are_wrong)
{
    for (size_t i = 0; i < COUNT(settings); i++)
        must_refuse(settings[i].flags, 2, settings[i].want, NULL);
}

static void few_files(void)
{
    struct rlimit limit = {.rlim_cur = 200, .rlim_max = 200};

    setrlimit(RLIMIT_NOFILE, &limit);
}

TEST(more_than_the_machine_has)
{
    static const char *const cpus[] = {"--cpus", "1023", NULL};
    static const char *const many[] = {"-c", "1000", NULL};

    must_refuse(cpus, 3, "client.cpus: this process may not use CPU 1023",
                NULL);
    must_refuse(many, 3, "1000 connections need 1072 open files", few_files);
}

/* It is not asked for a passphrase, nor is anything else wrong. */
TEST(files_that_are_right)
{
    char *ca = tmpdir_path("ca.pem");
    char *cert = tmpdir_path("client.pem");
    char *key = tmpdir_path("client.key");
    struct proc_result r =
        proc_run(ARGS("validate", URL, "--rate", "5", "--cacert", ca, "--cert",
                      cert, "--key", key));

    proc_expect(&r, 0);
    assert_string_equal(r.err, "");
}

GROUP_FIXTURE(setup, tmpdir_teardown)
