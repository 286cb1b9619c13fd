/* The same over IPv6: the stub, the run and what both write down. */
#include <jansson.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/outcome.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

static const char *const transports[] = {"native", "curl"};

static bool has_ipv6(void)
{
    struct sockaddr_in6 address = {.sin6_family = AF_INET6,
                                   .sin6_addr = IN6ADDR_LOOPBACK_INIT};
    int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool is_so = fd >= 0 && bind(fd, (const struct sockaddr *)&address,
                                 sizeof(address)) == 0;

    if (fd >= 0)
        close(fd);
    if (!is_so)
        print_message("this machine has no ::1\n");
    return is_so;
}

/* [::1]:PORT, as it stands in the URL. */
static void must_have_used(const char *dir, const char *url)
{
    json_t *manifest = load_manifest(dir);
    char *text = json_dumps(manifest, 0);
    const char *address = strstr(url, "[::1]:");

    assert_non_null(address);
    assert_non_null(strstr(text, address));
    free(text);
}

TEST(a_run_over_ipv6)
{
    char *url;
    struct proc stub;

    if (!has_ipv6())
        skip();
    stub = stub_start(ARGS("stub", "--bind", "::1"), &url);
    assert_memory_equal(url, "http://[::1]:", 13);
    for (size_t i = 0; i < 2; i++) {
        const char *dir = tmpdir_path(transports[i]);
        json_t *summary;

        run_for(ARGS("run", url, "--transport", transports[i], "--rate", "200",
                     "-n", "50", "-q", "-o", dir),
                dir, 0);
        must_have_used(dir, url);
        summary = load_summary(dir);
        assert_true(number_at(summary, "requests.ok") == 50);
    }
    stub_stop(&stub);
}

/* Nothing listens: the message has the address in its usual form. */
TEST(a_refusal_over_ipv6)
{
    char *url;
    struct proc stub;

    if (!has_ipv6())
        skip();
    stub = stub_start(ARGS("stub", "--bind", "::1"), &url);
    stub_stop(&stub);
    for (size_t i = 0; i < 2; i++) {
        struct proc_result r =
            proc_run(ARGS("run", url, "--transport", transports[i], "-c", "1",
                          "-q", "-o", tmpdir_path("refused")));

        proc_expect(&r, 3);
        assert_non_null(strstr(r.err, "tailgate: [::1]:"));
        assert_non_null(strstr(r.err, ": Connection refused\n"));
    }
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
