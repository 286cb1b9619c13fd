#include "analyzer/report/report.h"

#include <stddef.h>
#include <string.h>

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
