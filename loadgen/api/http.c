/* Plain HTTP: the user's body, and whatever comes back. */
#include "loadgen/api/api.h"

const struct api_ops client_http = {.kind = API_HTTP};
