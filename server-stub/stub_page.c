#include "server-stub/stub_page.h"

#include <stddef.h>
#include <string.h>

#include "common/base/buf.h"
#include "common/config.h"
#include "server-stub/front/url_path.h"
#include "server-stub/stub_metrics.h"

#define JSON_TYPE    "application/json"
#define METRICS_TYPE "text/plain; version=0.0.4"

static void put_ready(const struct page_view *view, struct buf *out)
{
    (void)view;
    buf_adds(out, "{\"status\":\"ok\"}");
}

static void put_models(const struct page_view *view, struct buf *out)
{
    buf_addf(out,
             "{\"object\":\"list\",\"data\":[{\"id\":\"%s\",\"object\":"
             "\"model\",\"created\":0,\"owned_by\":\"tailgate\"}]}",
             view->model);
}

/* TensorFlow Serving's. */
static void put_model_status(const struct page_view *view, struct buf *out)
{
    (void)view;
    buf_adds(out, "{\"model_version_status\":[{\"version\":\"1\",\"state\":"
                  "\"AVAILABLE\",\"status\":{\"error_code\":\"OK\","
                  "\"error_message\":\"\"}}]}");
}

/* KServe's and Triton's; there may be more tensors than the one. */
static void put_model_metadata(const struct page_view *view, struct buf *out)
{
    buf_addf(out,
             "{\"name\":\"%s\",\"versions\":[\"1\"],\"platform\":"
             "\"tailgate_stub\",\"inputs\":[{\"name\":\"input0\","
             "\"datatype\":\"FP32\",\"shape\":[-1]}],\"outputs\":[{\"name\":"
             "\"output0\",\"datatype\":\"FP32\",\"shape\":[-1]}]}",
             view->model);
}

static void put_server_metadata(const struct page_view *view, struct buf *out)
{
    (void)view;
    buf_adds(out, "{\"name\":\"tailgate_stub\",\"version\":\"" TAILGATE_VERSION
                  "\",\"extensions\":[\"binary_tensor_data\",\"generate\"]}");
}

/* TGI's. */
static void put_info(const struct page_view *view, struct buf *out)
{
    buf_addf(out,
             "{\"model_id\":\"%s\",\"model_pipeline_tag\":"
             "\"text-generation\",\"router\":\"tailgate_stub\","
             "\"version\":\"" TAILGATE_VERSION "\"}",
             view->model);
}

static const struct {
    const char *path;
    const char *type;
    void (*put)(const struct page_view *view, struct buf *out);
} pages[] = {
    {"/health", JSON_TYPE, put_ready},
    {"/v2/health/ready", JSON_TYPE, put_ready},
    {"/v2/health/live", JSON_TYPE, put_ready},
    {"/v2/models/*/ready", JSON_TYPE, put_ready},
    {"/v2/models/*/versions/*/ready", JSON_TYPE, put_ready},
    {"/v2", JSON_TYPE, put_server_metadata},
    {"/v2/models/*", JSON_TYPE, put_model_metadata},
    {"/v2/models/*/versions/*", JSON_TYPE, put_model_metadata},
    {"/v1/models", JSON_TYPE, put_models},
    {"/v1/models/*", JSON_TYPE, put_model_status},
    {"/v1/models/*/versions/*", JSON_TYPE, put_model_status},
    {"/v1/models/*/labels/*", JSON_TYPE, put_model_status},
    {"/info", JSON_TYPE, put_info},
    {"/metrics", METRICS_TYPE, metrics_write},
};

bool page_write(const char *path, const struct page_view *view, struct buf *out,
                const char **type)
{
    for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]); i++) {
        if (path_matches(pages[i].path, path)) {
            *type = pages[i].type;
            pages[i].put(view, out);
            return true;
        }
    }
    return false;
}
