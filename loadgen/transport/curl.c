/* HTTP through libcurl: TLS, HTTP/2, proxies and unix sockets.
 *
 * One easy handle carries one request at a time; the pool provides and drives
 * it.  The life of a request is
 * curl_start() -> on_prereq() -> on_header(), on_body() -> finish().
 */
#include <curl/curl.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/base/err.h"
#include "common/settings/settings.h"
#include "common/wire/http_message.h"
#include "loadgen/engine/request.h"
#include "loadgen/payload/workload.h"
#include "loadgen/prepare/target.h"
#include "loadgen/schedule/session.h"
#include "loadgen/transport/curl_connect.h"
#include "loadgen/transport/curl_outcome.h"
#include "loadgen/transport/curl_pool.h"
#include "loadgen/transport/socket.h"
#include "loadgen/transport/tls_context.h"
#include "loadgen/transport/tls_trust.h"
#include "loadgen/transport/transport.h"

#define HTTP_FINAL 200 /* statuses below are followed by another */

struct curl_transport {
    struct curl_pool pool;
    struct tls_trust *trust;
    bool is_global; /* libcurl was initialised */
};

static const struct transport_env *env_of(const struct curl_handle *h)
{
    return h->route->pool->env;
}

static int64_t now_ns(const struct curl_handle *h)
{
    return transport_now(env_of(h));
}

/* ---- the end of a request ---- */

static void let_go(struct curl_handle *h)
{
    curl_pool_put_back(h);
    h->request->conn = NULL;
    h->request = NULL;
}

static int64_t get_number(CURL *easy, CURLINFO what)
{
    curl_off_t value = 0;

    curl_easy_getinfo(easy, what, &value);
    return value;
}

static long get_long(CURL *easy, CURLINFO what)
{
    long value = 0;

    curl_easy_getinfo(easy, what, &value);
    return value;
}

/* What only libcurl knows.  It counts a body that is sent along with the head
 * twice. */
static void take_facts(const struct curl_handle *h, struct facts *f)
{
    const struct target *target = h->route->endpoint->target;
    int64_t head =
        (int64_t)(target->request.len - h->route->class->targets->body.len);
    int64_t sent = get_long(h->easy, CURLINFO_REQUEST_SIZE);
    int64_t uploaded = get_number(h->easy, CURLINFO_SIZE_UPLOAD_T);
    int64_t connected_us;
    int64_t secured_us;

    f->status = get_long(h->easy, CURLINFO_RESPONSE_CODE);
    f->retries = h->sends > 1;
    f->bytes_out =
        uploaded == 0 || sent - uploaded >= head / 2 ? sent : head + uploaded;
    f->bytes_in = get_long(h->easy, CURLINFO_HEADER_SIZE) +
                  get_number(h->easy, CURLINFO_SIZE_DOWNLOAD_T);
    if (get_long(h->easy, CURLINFO_NUM_CONNECTS) == 0 || h->broke_late)
        return; /* a connection for an attempt that was not allowed */
    connected_us = get_number(h->easy, CURLINFO_CONNECT_TIME_T);
    secured_us = get_number(h->easy, CURLINFO_APPCONNECT_TIME_T);
    if (connected_us == 0 && h->sends == 0)
        return; /* it failed; connecting to a unix socket may take no time */
    f->is_fresh = 1;
    f->connected = h->began_ns + connected_us * NS_PER_US;
    if (secured_us > 0)
        f->secured = h->began_ns + secured_us * NS_PER_US;
}

static struct curl_outcome judge(const struct curl_handle *h, CURLcode code)
{
    bool wants_2 = env_of(h)->settings->http2;
    int error = (int)get_long(h->easy, CURLINFO_OS_ERRNO);

    return curl_judge(&(struct curl_ending){
        .code = code,
        .error = error ? error : h->open_error,
        .status = (int)h->request->facts.status,
        .was_sent = h->sends > 0,
        .is_fresh = h->request->facts.is_fresh,
        .has_begun = h->head_len > 0,
        .is_whole_head = h->is_whole_head,
        .refusal = h->refusal,
        .broke_late = h->broke_late,
        .is_downgrade = wants_2 && get_long(h->easy, CURLINFO_HTTP_VERSION) <
                                       CURL_HTTP_VERSION_2_0,
        .text = h->why,
    });
}

/* ---- a connection that was closed while it was idle ---- */

/* An HTTP/1.1 connection carries one request at a time, so that it is known
 * which one broke, and when; unless it broke at once, before libcurl waited for
 * anything. */
static bool is_stale(const struct curl_handle *h)
{
    const struct curl_closing *c = curl_pool_closing(h);
    int error = (int)get_long(h->easy, CURLINFO_OS_ERRNO);

    if (!c)
        return h->socket == 0;
    if (c->acked < 0) /* for example a unix socket */
        return c->at_ns - h->asked_ns <= TRANSPORT_STALE_GRACE_NS;
    return stale_is(&(struct stale_facts){
        .taken = 1, /* or more: libcurl does not say */
        .acked = c->acked,
        .is_acked_known = true,
        .is_closed = error == 0 || error == EPIPE,
        .idle_ns = h->asked_ns - c->idle_ns,
        .waited_ns = c->at_ns - h->asked_ns,
        .rtt_ns = c->rtt_ns,
    });
}

/* Did an HTTP/2 connection break within the grace, or the server refuse the
 * stream, which it may do at any time?  To libcurl a refused stream is not an
 * error, unlike a connection that broke. */
static bool is_early(const struct curl_handle *h)
{
    int64_t broke_ns = curl_pool_closed_ns(h);

    if (broke_ns < h->asked_ns)
        broke_ns = clk_now(env_of(h)->clk);
    return broke_ns - h->asked_ns <= TRANSPORT_STALE_GRACE_NS ||
           (!h->why[0] && get_long(h->easy, CURLINFO_OS_ERRNO) == 0);
}

/* libcurl may choose another stale connection for the second attempt, and makes
 * no second attempt if the connection breaks while a large body is sent.  Send
 * it again once, on a fresh connection, before any byte of the response. */
static bool is_to_be_sent_again(const struct curl_handle *h, CURLcode code)
{
    if (h->is_again)
        return false;
    if (h->needs_fresh && !h->broke_late)
        return true;
    return code == CURLE_SEND_ERROR && h->sends == 1 &&
           !env_of(h)->settings->http2 && h->head_len == 0 && !h->has_opened &&
           get_long(h->easy, CURLINFO_NUM_CONNECTS) == 0 && is_stale(h);
}

static void finish(struct curl_handle *h, CURLcode code)
{
    const struct transport_env *env = env_of(h);
    struct request *r = h->request;
    struct curl_outcome v;

    if (is_to_be_sent_again(h, code)) {
        h->is_again = true;
        h->began_ns = now_ns(h);
        curl_pool_restart(h);
        return;
    }
    if (code != CURLE_OK && !h->refusal && curl_pool_was_flooded(h))
        h->refusal = HTTP1_FLOOD;
    take_facts(h, &r->facts);
    v = judge(h, code);
    if (v.outcome == OUTCOME_OK || v.outcome == OUTCOME_STATUS) {
        request_finish(r, (int)r->facts.status, now_ns(h));
    } else {
        if (v.text || !h->why[0])
            snprintf(h->why, sizeof(h->why), "%s",
                     v.text ? v.text : curl_easy_strerror(code));
        curl_trim_text(h->why);
        request_break(r, now_ns(h), v.outcome, v.detail, h->why);
    }
    let_go(h);
    env->ended(env->arg, r);
}

/* ---- what libcurl reports of a request ---- */

/* libcurl repeats any request that broke on a connection that was used before.
 * That is right if the server had closed the connection before the request
 * came; otherwise the server had the request. */
static int on_prereq(void *arg, char *ip, char *local_ip, int port,
                     int local_port)
{
    struct curl_handle *h = arg;
    struct facts *f = &h->request->facts;
    bool is_http2 = env_of(h)->settings->http2;

    (void)ip;
    (void)local_ip;
    (void)port;
    if (h->sends > 0 && curl_pool_was_flooded(h)) {
        h->refusal = HTTP1_FLOOD;
        return CURL_PREREQFUNC_ABORT;
    }
    h->broke_late = h->sends > 0 && !h->is_again &&
                    (is_http2 ? !is_early(h) : !is_stale(h));
    h->needs_fresh =
        h->sends > 0 && !is_http2 && !h->is_again && !h->has_opened;
    if (h->broke_late || h->needs_fresh)
        return CURL_PREREQFUNC_ABORT;
    h->sends++;
    h->asked_ns = clk_now(env_of(h)->clk);
    h->local_port = local_port;
    h->socket = 0;
    if (h->has_opened)
        curl_count_handshake(h->easy, &h->route->pool->path.tls);
    h->has_opened = false;
    h->why[0] = '\0'; /* that of an earlier attempt does not count */
    if (f->sent == TIME_ABSENT)
        f->sent = now_ns(h);
    return CURL_PREREQFUNC_OK;
}

/* False: it is too long. */
static bool take_bytes(struct curl_handle *h, size_t len)
{
    struct facts *f = &h->request->facts;

    f->bytes_in += (int64_t)len;
    if (!h->refusal && h->head_len > HTTP1_MAX_HEAD)
        h->refusal = HTTP1_LONG_HEAD;
    else if (!h->refusal && f->bytes_in > env_of(h)->settings->max_response)
        h->refusal = HTTP1_LONG_BODY;
    return !h->refusal;
}

static void read_header(struct curl_handle *h, const char *line, size_t len)
{
    const char *colon = memchr(line, ':', len);
    const char *value = colon ? colon + 1 : NULL;
    const char *end = line + len;

    if (!colon)
        return;
    while (value < end && (*value == ' ' || *value == '\t'))
        value++;
    while (end > value && strchr("\r\n \t", end[-1]))
        end--;
    response_header(&h->request->response, line, (size_t)(colon - line), value,
                    (size_t)(end - value));
}

static size_t on_header(char *data, size_t size, size_t n, void *arg)
{
    struct curl_handle *h = arg;
    size_t len = size * n;
    bool is_end = data[0] == '\n' || (data[0] == '\r' && len == 2);

    h->head_len += len;
    if (h->request->class->api)
        read_header(h, data, len);
    /* libcurl accepts what the native transport does not, so that the native
     * parser checks the head as well; an HTTP/2 head cannot be malformed. */
    if (!h->is_whole_head && !env_of(h)->settings->http2 && !h->refusal &&
        http1_feed(&h->parser, data, len) < 0)
        h->refusal = h->parser.error;
    if (!take_bytes(h, len))
        return 0;
    /* The empty line, unless it is that of a 1xx. */
    if (!is_end || h->is_whole_head ||
        get_long(h->easy, CURLINFO_RESPONSE_CODE) < HTTP_FINAL)
        return len;
    h->is_whole_head = true;
    h->route->pool->n_contents++;
    h->request->facts.head = now_ns(h);
    /* A length that is only announced, as in the answer to HEAD, is not too
     * long. */
    if (!h->route->class->targets->is_head &&
        get_number(h->easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T) >
            env_of(h)->settings->max_response)
        h->refusal = HTTP1_LONG_BODY;
    return h->refusal ? 0 : len;
}

/* libcurl hands over what it has read in pieces, one HTTP chunk at a time: they
 * were received together. */
static size_t on_body(char *data, size_t size, size_t n, void *arg)
{
    struct curl_handle *h = arg;
    struct curl_pool *pool = h->route->pool;
    struct request *r = h->request;
    size_t len = size * n;
    bool is_starved = false;

    pool->n_contents++;
    request_keep_body(r, data, len);
    if (r->class->api) {
        if (pool->read_turn != pool->n_turns) {
            pool->read_turn = pool->n_turns;
            pool->read_ns = now_ns(h);
        }
        response_take(
            &r->response, (int)get_long(h->easy, CURLINFO_RESPONSE_CODE),
            pool->read_ns > r->facts.head ? pool->read_ns : r->facts.head, data,
            len);
        is_starved = response_is_starved(&r->response);
    }
    return take_bytes(h, len) && !is_starved ? len : 0;
}

static void set_callbacks(struct curl_handle *h)
{
    CURL *easy = h->easy;

    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, h->why);
    curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_prereq);
    curl_easy_setopt(easy, CURLOPT_PREREQDATA, h);
    curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(easy, CURLOPT_HEADERDATA, h);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, h);
}

static const struct curl_user user = {.prepare = set_callbacks,
                                      .ended = finish};

/* ---- the ops ---- */

static void curl_start(void *self, struct request *r)
{
    struct curl_pool *p = &((struct curl_transport *)self)->pool;
    size_t i = workload_route(r->class, request_place(&r->facts));
    struct curl_handle *h = curl_pool_take(&p->routes[i]);
    const struct api *api = r->class->api;

    r->facts.target = (int64_t)p->routes[i].endpoint->place;
    h->request = r;
    r->conn = h;
    h->began_ns = now_ns(h);
    h->open_error = 0;
    h->sends = 0;
    h->local_port = 0;
    h->head_len = 0;
    http1_begin(&h->parser);
    h->parser.is_head_request = r->class->targets->is_head;
    h->is_whole_head = false;
    h->refusal = HTTP1_FINE;
    h->broke_late = false;
    h->needs_fresh = false;
    h->is_again = false;
    h->why[0] = '\0';
    buf_reset(&h->out);
    if (api && api->makes_bodies) {
        api_make_body(api, &r->facts, &r->row, r->session, &h->out);
        curl_easy_setopt(h->easy, CURLOPT_POSTFIELDS, buf_text(&h->out));
        curl_easy_setopt(h->easy, CURLOPT_POSTFIELDSIZE_LARGE,
                         (curl_off_t)h->out.len);
    }
    if (h->id)
        target_put_id(h->id, r->facts.seq);
    if (!h->out.overflowed) {
        curl_pool_start(h);
        return;
    }
    request_break(r, now_ns(h), OUTCOME_RESET, EMSGSIZE, TARGET_TOO_LARGE);
    let_go(h);
    p->env->ended(p->env->arg, r);
}

static bool curl_has_room(void *self)
{
    const struct curl_transport *t = self;

    return t->pool.n_taken < t->pool.env->max_connections;
}

static void curl_cancel(void *self, struct request *r)
{
    struct curl_handle *h = r->conn;

    (void)self;
    take_facts(h, &r->facts);
    let_go(h);
}

static int64_t curl_connections(void *self)
{
    const struct curl_transport *t = self;

    return t->pool.n_sockets;
}

static struct socket_path curl_path(void *self)
{
    const struct curl_transport *t = self;

    return curl_pool_path(&t->pool);
}

static int curl_transport_init(void *self, const struct transport_env *env,
                               struct err *err)
{
    struct curl_transport *t = self;
    const struct target_settings *s = env->settings;
    bool verifies = s->proxy && strncasecmp(s->proxy, "https:", 6) == 0;

    if (tls_files_check(s, err)) /* libcurl would fail with each request */
        return -1;
    if (curl_global_init(CURL_GLOBAL_DEFAULT))
        return err_set(err, ERR_IO, "libcurl cannot be initialised");
    t->is_global = true;
    for (size_t i = 0; i < env->workload->len && !s->insecure; i++) {
        const struct targets *ts = env->workload->classes[i].targets;

        verifies |= strcmp(ts->items[0].url.scheme, "https") == 0;
    }
    if (verifies) {
        t->trust = curl_trust_take(s->ca_file, err);
        if (err->code)
            return -1;
    }
    curl_pool_init(&t->pool, env, t->trust, &user);
    return 0;
}

static void curl_transport_fini(void *self)
{
    struct curl_transport *t = self;

    curl_pool_fini(&t->pool);
    tls_trust_give_back(t->trust);
    if (t->is_global)
        curl_global_cleanup();
}

const struct transport_ops transport_curl = {
    .name = "curl",
    .state_size = sizeof(struct curl_transport),
    .init = curl_transport_init,
    .has_room = curl_has_room,
    .start = curl_start,
    .cancel = curl_cancel,
    .connections = curl_connections,
    .path = curl_path,
    .fini = curl_transport_fini,
};
