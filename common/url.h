/* url.h - the parts of a target's address. */
#ifndef COMMON_URL_H
#define COMMON_URL_H

struct err;

struct url {
    char scheme[16];
    char host[256];  /* without the brackets of an IPv6 address */
    char port[6];    /* digits */
    char path[2048]; /* from the first '/', with the query; "/" if none */
};

/* "http://host[:port][/path]", "https://[::1]:8443/" or "null://".  ERR_CONFIG.
 */
int url_parse(const char *text, struct url *url, struct err *err);

/* For an option table. */
int url_check(const char *text, struct err *err);

#endif
