/* Plain HTTP: the user's body, and whatever comes back. */
#include "loadgen/api/api.h"

static int read_whole(const struct api *api, const struct response_head *head,
                      const char *data, size_t len, struct piece *p)
{
    (void)api;
    (void)head;
    p->text = (struct jtext){.at = data, .len = len}; /* as it stands */
    p->has_content = true;                            /* nobody promised any */
    return 0;
}

const struct api_ops client_http = {.kind = API_HTTP, .read_whole = read_whole};
