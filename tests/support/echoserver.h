/* echoserver.h - a server that answers with what it was sent: its own request
 * is the body of every response. */
#ifndef TESTS_SUPPORT_ECHOSERVER_H
#define TESTS_SUPPORT_ECHOSERVER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct echoserver {
    pid_t pid;
    char url[40];
};

struct echo_setup {
    int status;       /* 0: 200 */
    int first_status; /* of the first n_first responses */
    int n_first;
    bool goes_mute;       /* after these */
    int64_t delay_ns;     /* connections are refused for this time */
    const char *location; /* header of each response; NULL: none */
    const char *log;      /* file that gets everything received; NULL: none */
};

/* The answers set a cookie "from=echo-cookie", and close the connection. */
struct echoserver echoserver_start(const struct echo_setup *setup);
void echoserver_stop(struct echoserver *s);

#endif
