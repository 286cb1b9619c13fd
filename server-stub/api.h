/* api.h - the languages that the stub speaks.
 *
 * An API reads what a request asks for and words the answer; when and whether
 * it goes out is not its business.
 */
#ifndef SERVER_STUB_API_H
#define SERVER_STUB_API_H

#include <stdbool.h>
#include <stdint.h>

struct buf;
struct call;
struct exchange;

struct api_ops {
    const char *name;
    const char *path;     /* exactly; NULL: any that no other has */
    bool opens_with_role; /* a stream's first tokens follow a role event */

    /* What does it ask for?  False: that is no such request (400).  Required.
     */
    bool (*read)(const struct exchange *x, struct call *call);

    /* Body of the whole answer, not streamed.  NULL: the plain one, made once.
     */
    void (*whole)(const struct call *call, const char *model, struct buf *out);

    /* Events of a stream: one that announces it and carries nothing, one with
     * n tokens, the last ones, an error.  NULL if the API does not stream. */
    void (*role)(const struct call *call, const char *model, struct buf *out);
    void (*tokens)(const struct call *call, const char *model, int64_t n,
                   struct buf *out);
    void (*last)(const struct call *call, const char *model, struct buf *out);
    void (*error)(const struct call *call, struct buf *out);
};

extern const struct api_ops api_plain;
extern const struct api_ops api_openai_chat;
extern const struct api_ops api_openai_completions;

/* The one for this path. */
const struct api_ops *api_for(const char *path);

#endif
