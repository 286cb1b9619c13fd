#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/stop.h"
#include "common/config.h"
#include "common/settings/settings.h"
#include "server-stub/stub.h"
#include "tests/support/test.h"

TEST(bad_settings_name_their_key)
{
    static const struct {
        const char *assignments[2];
        const char *want;
    } cases[] = {
        {{"stub.stall=1s"}, "stub.stall: requires stub.stall_every"},
        {{"stub.stall_every=5s"}, "stub.stall_every: requires stub.stall"},
        {{"stub.stall=5s", "stub.stall_every=5s"},
         "stub.stall: must be shorter than stub.stall_every"},
        {{"stub.body_size=1"},
         "stub.body_size: must be from 2 bytes to 64 MiB"},
        {{"stub.body_size=1GiB"},
         "stub.body_size: must be from 2 bytes to 64 MiB"},
        {{"stub.tls_ca=ca.pem"}, "stub.tls_ca: requires stub.tls_cert"},
        {{"stub.tls_key=a.key"}, "stub.tls_key: requires stub.tls_cert"},
        {{"stub.tls_cert=a.pem"}, "stub.tls_cert: requires stub.tls_key"},
        {{"stub.tls=self-signed", "stub.grpc_port=0"},
         "stub.tls: self-signed cannot be combined with stub.grpc_port"},
        {{"stub.bind=localhost"},
         "stub.bind: 'localhost' is not an address; write 127.0.0.1, 0.0.0.0 "
         "or ::1"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct stub_options options = {0};
        struct settings settings;
        struct err err = {0};

        settings_init(&settings);
        for (size_t k = 0; k < 2 && cases[i].assignments[k]; k++)
            assert_int_equal(
                settings_assign(&settings, cases[i].assignments[k], &err), 0);
        assert_int_equal(stub_run(&settings.stub, &options, &err), -1);
        assert_int_equal(err.code, ERR_CONFIG);
        assert_string_equal(err.msg, cases[i].want);
        settings_fini(&settings);
    }
}

/* Ask it to end, and try to listen where it listens. */
static void on_listening(void *arg, const char *url)
{
    char *refusal = arg;
    struct stub_options options = {0};
    struct settings settings;
    struct err err = {0};

    atomic_store(&stop_signal, 15);
    settings_init(&settings);
    assert_memory_equal(url, "http://127.0.0.1:", 17);
    settings.stub.port = (int)strtol(url + 17, NULL, 10);
    assert_in_range(settings.stub.port, 1, 65535);
    assert_int_equal(stub_run(&settings.stub, &options, &err), -1);
    assert_int_equal(err.code, ERR_IO);
    snprintf(refusal, 128, "%s", strchr(err.msg, ' '));
    settings_fini(&settings);
}

TEST(it_ends_when_it_is_told_to)
{
    char refusal[128] = "";
    struct stub_options options = {.listening = on_listening, .arg = refusal};
    struct settings settings;
    struct err err = {0};

    settings_init(&settings);
    assert_int_equal(stub_run(&settings.stub, &options, &err), 0);
    assert_string_equal(refusal, " Address already in use");
    settings_fini(&settings);
    atomic_store(&stop_signal, 0);
}

TEST(a_truth_log_that_cannot_be_made_is_an_error)
{
    struct stub_options options = {.truth_path = "/nowhere/truth.tgr"};
    struct settings settings;
    struct err err = {0};

    settings_init(&settings);
    assert_int_equal(stub_run(&settings.stub, &options, &err), -1);
    assert_int_equal(err.code, ERR_IO);
    assert_non_null(strstr(err.msg, "/nowhere/truth.tgr"));
    settings_fini(&settings);
}

/* Of gRPC the second address is. */
static void on_grpc_listening(void *arg, const char *url)
{
    int *times = arg;

    ++*times;
    if (strncmp(url, "grpc://127.0.0.1:", 17) == 0)
        atomic_store(&stop_signal, 15);
}

/* All that C-core was given is given back: it can be had again. */
TEST(grpc_ends_and_begins_again)
{
    for (int i = 0; i < 2 && HAVE_GRPC; i++) {
        int times = 0;
        struct stub_options options = {.listening = on_grpc_listening,
                                       .arg = &times};
        struct settings settings;
        struct err err = {0};

        settings_init(&settings);
        assert_int_equal(settings_assign(&settings, "stub.grpc_port=0", &err),
                         0);
        assert_int_equal(stub_run(&settings.stub, &options, &err), 0);
        assert_int_equal(times, 2);
        atomic_store(&stop_signal, 0);
        settings_fini(&settings);
    }
}
