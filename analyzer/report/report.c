#include "analyzer/report/report.h"

#include <stddef.h>
#include <string.h>

#include "analyzer/report/doc.h"
#include "analyzer/report/run_doc.h"

static void render_text(const struct summary *s, struct buf *out)
{
    doc_put(run_doc(s), DOC_AS_BRIEF, out);
}

static void render_json(const struct summary *s, struct buf *out)
{
    doc_put(run_doc(s), DOC_AS_JSON, out);
}

static void render_full(const struct summary *s, struct buf *out)
{
    doc_put(run_doc(s), DOC_AS_FULL, out);
}

static void render_markdown(const struct summary *s, struct buf *out)
{
    doc_put(run_doc(s), DOC_AS_MARKDOWN, out);
}

static void render_bencher(const struct summary *s, struct buf *out)
{
    doc_put(run_doc(s), DOC_AS_BENCHER, out);
}

static void render_github_smaller(const struct summary *s, struct buf *out)
{
    doc_put(run_doc(s), DOC_AS_GITHUB_SMALLER, out);
}

static void render_github_bigger(const struct summary *s, struct buf *out)
{
    doc_put(run_doc(s), DOC_AS_GITHUB_BIGGER, out);
}

static void render_llm_d(const struct summary *s, struct buf *out)
{
    doc_put(run_doc(s), DOC_AS_LLM_D, out);
}

const struct report_ops report_text = {
    .name = "text", .format = DOC_AS_TEXT, .render = render_text};
const struct report_ops report_json = {
    .name = "json", .format = DOC_AS_JSON, .render = render_json};
const struct report_ops report_full = {
    .name = "full", .format = DOC_AS_FULL, .render = render_full};
static const struct report_ops report_markdown = {
    .name = "md", .format = DOC_AS_MARKDOWN, .render = render_markdown};
static const struct report_ops report_bencher = {
    .name = "bencher", .format = DOC_AS_BENCHER, .render = render_bencher};
static const struct report_ops report_github_smaller = {
    .name = "github-smaller",
    .format = DOC_AS_GITHUB_SMALLER,
    .render = render_github_smaller};
static const struct report_ops report_github_bigger = {
    .name = "github-bigger",
    .format = DOC_AS_GITHUB_BIGGER,
    .render = render_github_bigger};
static const struct report_ops report_llm_d = {
    .name = "llm-d", .format = DOC_AS_LLM_D, .render = render_llm_d};

static const struct report_ops *const formats[] = {
    &report_text,          &report_json,    &report_full,
    &report_markdown,      &report_bencher, &report_github_smaller,
    &report_github_bigger, &report_llm_d,   &report_csv,
    &report_seconds,       &report_hgrm,    &report_hlog,
    &report_vllm};

/* Formats of a document first: a recording command has only these. */
const char *const report_names[] = {
    "text",           "json",          "full",      "md",  "bencher",
    "github-smaller", "github-bigger", "llm-d",     "csv", "seconds",
    "hgrm",           "hlog",          "vllm-json", NULL};
const char *const report_doc_names[] = {
    "text",           "json",          "full",  "md", "bencher",
    "github-smaller", "github-bigger", "llm-d", NULL};

const struct report_ops *report_find(const char *name)
{
    for (size_t i = 0; i < sizeof(formats) / sizeof(formats[0]); i++) {
        if (strcmp(formats[i]->name, name) == 0)
            return formats[i];
    }
    return NULL;
}
