#include "tests/support/certs.h"

#include <openssl/pem.h>
#include <openssl/x509.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/keep.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"
#include "tests/support/tool.h"

#define OURS   "subjectAltName=IP:127.0.0.1,DNS:localhost"
#define CA     "basicConstraints=critical,CA:TRUE"
#define CLIENT "extendedKeyUsage=clientAuth"
#define DAY    (24L * 3600)

static const struct cert {
    const char *name;
    const char *extension;
    const char *days;    /* from now */
    const char *signer;  /* NULL: itself */
    const char *subject; /* its common name; NULL: says what it is */
} certs[] = {
    {"ca", CA, "2", NULL, NULL},
    {"server", OURS, "2", "ca", NULL},
    {"expired", OURS, "-1", "ca", NULL},
    {"future", OURS, "2", "ca", NULL},
    {"self", OURS, "2", NULL, NULL},
    {"other-host", "subjectAltName=DNS:elsewhere.invalid", "2", "ca", NULL},
    {"wildcard", "subjectAltName=DNS:*.localhost", "2", "ca", NULL},
    {"name-alone", "extendedKeyUsage=serverAuth", "2", "ca", "localhost"},
    {"middle", CA, "2", "ca", NULL},
    {"below", OURS, "2", "middle", NULL},
    {"old-ca", CA, "-1", NULL, NULL},
    {"of-old-ca", OURS, "2", "old-ca", NULL},
    {"client", CLIENT, "2", "ca", NULL},
    {"foreign", CLIENT, "2", NULL, NULL},
};

#define PROBLEM "SSL certificate problem: "
#define NO_NAME                                                                \
    "SSL: no alternative certificate subject name matches target host name "

const struct cert_verdict cert_verdicts[] = {
    {"server", "127.0.0.1", "ca", NULL},
    {"server", "localhost", "ca", NULL},
    {"below", "127.0.0.1", "middle", NULL}, /* need not be a root */
    {"name-alone", "localhost", "ca", NULL},
    {"expired", "127.0.0.1", "ca", PROBLEM "certificate has expired"},
    {"future", "127.0.0.1", "ca", PROBLEM "certificate is not yet valid"},
    {"self", "127.0.0.1", "ca", PROBLEM "self-signed certificate"},
    {"other-host", "127.0.0.1", "ca", NO_NAME "'127.0.0.1'"},
    {"other-host", "localhost", "ca", NO_NAME "'localhost'"},
    {"wildcard", "localhost", "ca", NO_NAME "'localhost'"},
    {"name-alone", "127.0.0.1", "ca",
     "SSL: certificate subject name 'localhost' does not match target host "
     "name '127.0.0.1'"},
    {"below", "127.0.0.1", "ca",
     PROBLEM "unable to get local issuer certificate"},
    {"of-old-ca", "127.0.0.1", "old-ca", PROBLEM "certificate has expired"},
    {"client", "127.0.0.1", "ca", PROBLEM "unsuitable certificate purpose"},
};
const size_t n_cert_verdicts = COUNT(cert_verdicts);

static char *file(const char *name, const char *suffix)
{
    return keepf("%s/%s%s", tmpdir_root(), name, suffix);
}

/* A key, a request for its certificate, and the certificate. */
static void make(const struct cert *c)
{
    char *log = file("openssl", ".log");
    char *config = file("openssl", ".cnf");
    char *key = file(c->name, ".key");
    char *request = file(c->name, ".csr");
    char *cert = file(c->name, ".pem");
    char *subject = c->subject ? keepf("/CN=%s", c->subject)
                               : keepf("/CN=tailgate test %s", c->name);
    char *signer = file(c->signer ? c->signer : "", ".pem");
    char *signer_key = file(c->signer ? c->signer : c->name, ".key");

    tool_run(TOOL("openssl", "req", "-new", "-config", config, "-newkey", "ec",
                  "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
                  subject, "-addext", c->extension, "-keyout", key, "-out",
                  request),
             log);
    tool_run(TOOL("openssl", "x509", "-req", "-in", request, "-copy_extensions",
                  "copyall", "-days", c->days, "-out", cert,
                  c->signer ? "-CAkey" : "-signkey", signer_key,
                  c->signer ? "-CA" : NULL, signer),
             log);
}

/* The openssl command of 3.0 knows no other beginning than now. */
static void begin_tomorrow(const char *name)
{
    FILE *f = fopen(file("ca", ".key"), "r");
    EVP_PKEY *key = PEM_read_PrivateKey(f, NULL, NULL, NULL);
    X509 *cert;

    fclose(f);
    f = fopen(file(name, ".pem"), "r+");
    cert = PEM_read_X509(f, NULL, NULL, NULL);
    X509_gmtime_adj(X509_getm_notBefore(cert), DAY);
    assert_true(X509_sign(cert, key, EVP_sha256()) > 0);
    rewind(f);
    assert_int_equal(PEM_write_X509(f, cert), 1);
    assert_int_equal(ftruncate(fileno(f), ftell(f)), 0);
    fclose(f);
    X509_free(cert);
    EVP_PKEY_free(key);
}

int certs_setup(void **state)
{
    static const char config[] = "[req]\ndistinguished_name = dn\n[dn]\n";

    if (tmpdir_setup(state))
        return -1;
    tmpdir_write("openssl.cnf", config, strlen(config));
    for (size_t i = 0; i < COUNT(certs); i++)
        make(&certs[i]);
    begin_tomorrow("future");
    return 0;
}
