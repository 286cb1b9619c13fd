/* netns.h - a network of the test's own: nothing in it but its loopback, and
 * settings of the kernel that affect no other process. */
#ifndef TESTS_SUPPORT_NETNS_H
#define TESTS_SUPPORT_NETNS_H

#include <stdbool.h>

/* For this process and those that it starts from now on.  False where that is
 * not allowed; nothing has changed then. */
bool netns_enter(void);

/* Connections are made from these ports alone.  Only in a network of one's own.
 */
void netns_set_local_ports(int first, int last);

#endif
