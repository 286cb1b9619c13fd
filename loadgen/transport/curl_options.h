/* curl_options.h - what was asked of the target, as libcurl's options. */
#ifndef LOADGEN_TRANSPORT_CURL_OPTIONS_H
#define LOADGEN_TRANSPORT_CURL_OPTIONS_H

#include <curl/curl.h>

struct curl_trust;
struct transport_env;

/* Method and body, TLS, the way there, and the tap.  Everything is borrowed by
 * the handle for as long as it lives. */
void curl_set_options(CURL *easy, const struct transport_env *env,
                      const struct curl_trust *trust,
                      struct curl_slist *connect_to);

#endif
