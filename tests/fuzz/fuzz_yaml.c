/* Any bytes are a tree or one line that says why not. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/text/yaml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct yaml_node root;
    struct err err = {0};

    if (yaml_load_text(&root, "f", (const char *)data, size, &err) == 0)
        yaml_fini(&root);
    else if (err.code != ERR_CONFIG || strncmp(err.msg, "f:", 2) != 0 ||
             strchr(err.msg, '\n'))
        abort();
    return 0;
}
