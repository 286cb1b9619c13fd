/* url.h - the parts of a target's address. */
#ifndef COMMON_BASE_URL_H
#define COMMON_BASE_URL_H

#include <stdbool.h>

struct err;

/* In a URL: a port that is found when a server is started. */
#define URL_PORT "{port}"

struct url {
    char scheme[16];
    char host[256];  /* without the brackets of an IPv6 address */
    char port[6];    /* digits; 0: URL_PORT */
    char path[2048]; /* from the first '/', with the query; "/" if none */
};

/* "http://host[:port][/path]", "https://[::1]:8443/", "grpc://host:port",
 * "grpcs://host:port/package.Service/Method" or "null://".  ERR_CONFIG. */
int url_parse(const char *text, struct url *url, struct err *err);

/* "host:port" or "[::1]:port", into those two fields.  ERR_CONFIG. */
int url_parse_place(const char *text, struct url *url, struct err *err);

/* Do two URLs have the same scheme, host and port?  False if one is no URL. */
bool url_same_origin(const char *a, const char *b);

/* For an option table: a URL, a place, and "[scheme://][user:password@]host
 * [:port]" of a proxy, which no message repeats. */
int url_check(const char *text, struct err *err);
int url_check_place(const char *text, struct err *err);
int url_check_proxy(const char *text, struct err *err);

/* Is this, a URL or its scheme, one of gRPC's, grpc or grpcs?  One of TLS,
 * https or grpcs? */
bool url_is_grpc(const char *text);
bool url_is_tls(const char *text);

#endif
