/* curl_options.h - what was asked of the target, as libcurl's options. */
#ifndef LOADGEN_TRANSPORT_CURL_OPTIONS_H
#define LOADGEN_TRANSPORT_CURL_OPTIONS_H

#include <curl/curl.h>

struct curl_trust;
struct target_settings;
struct class;
struct transport_env;

/* TLS and the way there.  Everything is borrowed by the handle for as long as
 * it lives. */
void curl_set_connection(CURL *easy, const struct target_settings *s,
                         const struct curl_trust *trust,
                         struct curl_slist *connect_to);

/* The same, with method and body, and the tap. */
void curl_set_options(CURL *easy, const struct transport_env *env,
                      const struct class *class, const struct curl_trust *trust,
                      struct curl_slist *connect_to);

#endif
