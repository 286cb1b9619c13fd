/* proxy_env.h - variables of the environment by which other programs find a
 * proxy.  Runs ignore them, and say so. */
#ifndef COMMON_BASE_PROXY_ENV_H
#define COMMON_BASE_PROXY_ENV_H

struct strlist;

/* The names of those that are set and not empty. */
void proxyenv_find(struct strlist *names);

#endif
