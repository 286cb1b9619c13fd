/* url.h - URLs of targets and proxies. */
#ifndef COMMON_BASE_URL_H
#define COMMON_BASE_URL_H

#include <stdbool.h>

struct err;

/* In a URL: the port is chosen when a server is started. */
#define URL_PORT "{port}"

struct url {
    char scheme[16];
    char host[256];  /* without the brackets of an IPv6 address */
    char port[6];    /* digits; 0 for URL_PORT */
    char path[2048]; /* from the first '/', with the query; "/" if missing */
};

/* "http://host[:port][/path]", "https://[::1]:8443/", "grpc://host:port",
 * "grpcs://host:port/package.Service/Method" or "null://".  ERR_CONFIG. */
int url_parse(const char *text, struct url *url, struct err *err);

/* "host:port" or "[::1]:port", into those two fields.  ERR_CONFIG. */
int url_parse_place(const char *text, struct url *url, struct err *err);

/* Do two URLs have the same scheme, host and port?  False if one is invalid. */
bool url_same_origin(const char *a, const char *b);

/* The text with "http://" before it if it has no scheme and begins like a host:
 * "host:8000", "localhost", "10.0.0.1/x", "example.com"; the caller frees it.
 */
char *url_complete(const char *text);

/* Is this argument, which is not the name of a file, meant as such a URL?  A
 * name without a port needs a path, and "a.b/chat.yaml" is not one. */
bool url_is_meant(const char *word);

/* Checks for option tables: a URL, host:port, and a proxy
 * "[scheme://][user:password@]host[:port]".  No message repeats a proxy. */
int url_check(const char *text, struct err *err);
int url_check_place(const char *text, struct err *err);
int url_check_proxy(const char *text, struct err *err);

/* Is the scheme of this URL, or this scheme, grpc or grpcs?  Does it use TLS:
 * https or grpcs? */
bool url_is_grpc(const char *text);
bool url_is_tls(const char *text);

#endif
