#include "loadgen/payload/workload.h"

#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/str.h"
#include "common/base/xalloc.h"
#include "common/settings/settings.h"
#include "common/text/redact.h"
#include "loadgen/api/api.h"
#include "loadgen/transport/socket.h"

/* What a class owns. */
struct workload_part {
    struct api api;
    struct targets targets;
};

static void note_class(struct workload *workload, const struct class *c)
{
    if (c->targets)
        workload->n_routes += c->targets->n_endpoints;
    workload->reads |= c->api != NULL;
    workload->streams |= c->api && c->api->streams;
}

void workload_of_one(struct workload *workload, const struct targets *targets,
                     const struct api *api,
                     const struct target_settings *settings)
{
    *workload = (struct workload){
        .len = 1,
        .one = {.targets = targets, .api = api, .settings = settings}};
    workload->classes = &workload->one;
    note_class(workload, &workload->one);
    workload->n_places = workload->n_routes;
}

/* ---- places ---- */

/* Could a connection to one carry a request to the other? */
static bool is_same_place(const struct endpoint *a, const struct endpoint *b)
{
    const struct url *x = &a->target->url;
    const struct url *y = &b->target->url;

    if (strcmp(x->host, y->host) != 0 || strcmp(x->port, y->port) != 0 ||
        !a->address != !b->address)
        return false;
    return !a->address || (a->address->ai_addrlen == b->address->ai_addrlen &&
                           memcmp(a->address->ai_addr, b->address->ai_addr,
                                  a->address->ai_addrlen) == 0);
}

/* An endpoint of the first n_classes with the same address; NULL: none. */
static const struct endpoint *find_same(const struct workload *workload,
                                        size_t n_classes,
                                        const struct endpoint *e)
{
    for (size_t c = 0; c < n_classes; c++) {
        const struct targets *ts = &workload->parts[c].targets;

        for (size_t i = 0; i < ts->n_endpoints; i++) {
            if (is_same_place(&ts->endpoints[i], e))
                return &ts->endpoints[i];
        }
    }
    return NULL;
}

/* ---- construction ---- */

static int make_class(struct workload *workload, size_t i,
                      const struct settings *s, struct strlist *notes,
                      struct err *err)
{
    struct workload_part *p = &workload->parts[i];
    struct strlist lines = {0};
    int rc = 0;

    if (api_init(&p->api, s, err) ||
        targets_init(&p->targets, &s->target, api_if_needed(&p->api), err) ||
        targets_probe(&p->targets, &s->target, &lines, err))
        rc = -1;
    for (size_t k = 0; k < lines.len; k++) { /* once per address is enough */
        size_t known = 0;

        while (known < notes->len &&
               strcmp(notes->items[known], lines.items[k]) != 0)
            known++;
        if (known == notes->len)
            strlist_add(notes, lines.items[k]);
    }
    strlist_fini(&lines);
    if (rc)
        return rc;
    workload->several[i] = (struct class){.targets = &p->targets,
                                          .api = api_if_needed(&p->api),
                                          .settings = &s->target,
                                          .first_route = workload->n_routes};
    note_class(workload, &workload->several[i]);
    return 0;
}

int workload_init(struct workload *workload, const struct settings *s,
                  struct strlist *notes, struct err *err)
{
    const struct classes *all = &s->classes;
    size_t drawn = all->len > 0 ? all->len : 1;
    size_t n = drawn + s->warmup.len;

    *workload = (struct workload){
        .len = n, .is_drawn = drawn > 1, .drawn = all, .seed = s->load.seed};
    workload->several = xcalloc(n, sizeof(*workload->several));
    workload->parts = xcalloc(n, sizeof(*workload->parts));
    workload->classes = workload->several;
    if (all->len == 0 && make_class(workload, 0, s, notes, err))
        return -1;
    for (size_t i = 0; i < all->len; i++) {
        const struct class_settings *c = &all->items[i];

        if (make_class(workload, i, c->settings, notes, err))
            return err_context(err, "classes: %s", c->name);
    }
    if (s->warmup.len > 0) {
        if (make_class(workload, drawn, s->warmup.items[0].settings, notes,
                       err))
            return err_context(err, CLASSES_WARMUP);
        workload->warmup = &workload->several[drawn];
    }
    /* Endpoints of different classes with the same address share connections;
     * those of one class do not. */
    for (size_t c = 0; c < n; c++) {
        struct targets *ts = &workload->parts[c].targets;

        for (size_t i = 0; i < ts->n_endpoints; i++) {
            struct endpoint *e = &ts->endpoints[i];
            const struct endpoint *same = find_same(workload, c, e);

            e->place = same ? same->place : workload->n_places++;
        }
    }
    return 0;
}

void workload_fini(struct workload *workload)
{
    for (size_t i = 0; workload->parts && i < workload->len; i++) {
        targets_fini(&workload->parts[i].targets);
        api_fini(&workload->parts[i].api);
    }
    free(workload->parts);
    free(workload->several);
    *workload = (struct workload){0};
}

void workload_set_lanes(struct workload *workload, int64_t n)
{
    for (size_t i = 0; i < workload->len; i++)
        workload->parts[i].targets.n_lanes = n;
}

/* Places are numbered in the order in which they appear. */
void workload_name_places(const struct workload *workload,
                          struct strlist *names)
{
    for (size_t c = 0; c < workload->len; c++) {
        const struct targets *ts = workload->classes[c].targets;

        for (size_t i = 0; ts && i < ts->n_endpoints; i++) {
            const struct endpoint *e = &ts->endpoints[i];
            char address[SOCKET_ADDRESS_TEXT];
            char *name;

            if (e->place != names->len)
                continue;
            name = redact_url(e->target->text);
            if (e->address && e->target->n_endpoints > 1) {
                char *url = name;

                name = xasprintf("%s at %s", url,
                                 socket_address_text(e->address, address));
                free(url);
            }
            strlist_add(names, name);
            free(name);
        }
    }
}

const struct api *workload_api(const struct workload *workload, size_t i)
{
    return &workload->parts[i].api;
}
