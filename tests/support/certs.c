#include "tests/support/certs.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "tests/support/keep.h"
#include "tests/support/tmpdir.h"
#include "tests/support/tool.h"

#define OURS "subjectAltName=IP:127.0.0.1,DNS:localhost"

static const struct {
    const char *name;
    const char *extension;
    const char *days; /* from now */
    bool is_of_ca;    /* else it signs itself */
} certs[] = {
    {"ca", "basicConstraints=critical,CA:TRUE", "2", false},
    {"server", OURS, "2", true},
    {"expired", OURS, "-1", true},
    {"self", OURS, "2", false},
    {"other-host", "subjectAltName=DNS:elsewhere.invalid", "2", true},
    {"client", "extendedKeyUsage=clientAuth", "2", true},
};

static char *file(const char *name, const char *suffix)
{
    return keepf("%s/%s%s", tmpdir_root(), name, suffix);
}

/* A key, a request for its certificate, and the certificate. */
static void make(const char *name, const char *extension, const char *days,
                 bool is_of_ca)
{
    char *log = file("openssl", ".log");
    char *config = file("openssl", ".cnf");
    char *key = file(name, ".key");
    char *request = file(name, ".csr");
    char *cert = file(name, ".pem");
    char *subject = keepf("/CN=tailgate test %s", name);
    char *signer = file("ca", ".pem");
    char *signer_key = file(is_of_ca ? "ca" : name, ".key");

    tool_run(TOOL("openssl", "req", "-new", "-config", config, "-newkey", "ec",
                  "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                  subject, "-addext", extension, "-keyout", key, "-out",
                  request),
             log);
    tool_run(TOOL("openssl", "x509", "-req", "-in", request, "-copy_extensions",
                  "copyall", "-days", days, "-out", cert,
                  is_of_ca ? "-CAkey" : "-signkey", signer_key,
                  is_of_ca ? "-CA" : NULL, signer),
             log);
}

int certs_setup(void **state)
{
    static const char config[] = "[req]\ndistinguished_name = dn\n[dn]\n";

    if (tmpdir_setup(state))
        return -1;
    tmpdir_write("openssl.cnf", config, strlen(config));
    for (size_t i = 0; i < sizeof(certs) / sizeof(certs[0]); i++)
        make(certs[i].name, certs[i].extension, certs[i].days,
             certs[i].is_of_ca);
    return 0;
}
