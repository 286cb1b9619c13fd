/* When a request may be sent again: what the kernel and the clock say of a
 * connection that broke under it. */

#include "common/base/clk.h"
#include "loadgen/transport/socket.h"
#include "tests/support/test.h"

#define RTT (40 * NS_PER_US)

static const struct {
    const char *what;
    struct stale_facts f;
    bool is_stale;
} cases[] = {
    {"our own kernel refused it", {.taken = 0}, true},
    {"closed before it came, and seen hours later",
     {.taken = 99,
      .is_acked_known = true,
      .is_closed = true,
      .waited_ns = 3600 * NS_PER_S},
     true},
    {"closed after it came, at once",
     {.taken = 99, .acked = 99, .is_acked_known = true, .is_closed = true},
     false},
    {"closed after a part of it came",
     {.taken = 99, .acked = 1, .is_acked_known = true, .is_closed = true},
     false},
    {"closed, and the kernel does not tell",
     {.taken = 99, .is_closed = true},
     false},
    {"reset at once after a minute",
     {.taken = 99,
      .is_acked_known = true,
      .idle_ns = 60 * NS_PER_S,
      .waited_ns = 2 * RTT + NS_PER_MS,
      .rtt_ns = RTT},
     true},
    {"reset a little later",
     {.taken = 99,
      .is_acked_known = true,
      .idle_ns = 60 * NS_PER_S,
      .waited_ns = 2 * RTT + NS_PER_MS + 1,
      .rtt_ns = RTT},
     false},
    {"reset at once while it was in use",
     {.taken = 99,
      .is_acked_known = true,
      .idle_ns = 4 * NS_PER_S - 1,
      .waited_ns = RTT,
      .rtt_ns = RTT},
     false},
    {"reset at once after a minute, and it had come",
     {.taken = 99,
      .acked = 99,
      .is_acked_known = true,
      .idle_ns = 60 * NS_PER_S,
      .waited_ns = RTT,
      .rtt_ns = RTT},
     false},
};

TEST(what_the_server_had_is_not_stale)
{
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        if (stale_is(&cases[i].f) != cases[i].is_stale)
            fail_msg("%s", cases[i].what);
    }
}
