#include "analyzer/report/report.h"

#include <stddef.h>
#include <string.h>

#include "analyzer/report/doc.h"
#include "analyzer/report/run_doc.h"

static void render_text(const struct summary *s, struct buf *out)
{
    doc_put(run_doc(s), DOC_AS_TEXT, out);
}

static void render_json(const struct summary *s, struct buf *out)
{
    doc_put(run_doc(s), DOC_AS_JSON, out);
}

static void render_full(const struct summary *s, struct buf *out)
{
    doc_put(run_doc(s), DOC_AS_FULL, out);
}

const struct report_ops report_text = {.name = "text", .render = render_text};
const struct report_ops report_json = {.name = "json", .render = render_json};
const struct report_ops report_full = {.name = "full", .render = render_full};

static const struct report_ops *const formats[] = {
    &report_text,    &report_json, &report_full, &report_csv,
    &report_seconds, &report_hgrm, &report_hlog, &report_vllm};

const char *const report_names[] = {"text", "json",      "full",
                                    "csv",  "seconds",   "hgrm",
                                    "hlog", "vllm-json", NULL};

const struct report_ops *report_find(const char *name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    }
    return NULL;
}
