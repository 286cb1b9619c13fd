/* Wrong input: the right exit code, and one line that names the place. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/xalloc.h"
#include "tests/support/keep.h"
#include "tests/support/proc.h"
#include "tests/support/test.h"
#include "tests/support/tmpdir.h"

#define URL "http://127.0.0.1:1"

/* Exactly this on stderr, nothing on stdout. */
static void check(const char *const *argv, int status, const char *want)
{
    struct proc_result r = proc_run(argv);
    char *line = keepf("tailgate: %s\n", want);

    if (r.status != status || strcmp(r.err, line) != 0)
        print_error("%s %s: exit %d, said: %s", argv[1] ? argv[1] : "",
                    argv[1] && argv[2] ? argv[2] : "", r.status, r.err);
    assert_int_equal(r.status, status);
    assert_string_equal(r.err, line);
    assert_string_equal(r.out, "");
}

static const struct {
    const char *argv[12];
    const char *want;
} command_cases[] = {
    {{"tailgate"}, "no command given; try 'tailgate help'"},
    {{"tailgate", "rnu"}, "unknown command 'rnu'; did you mean 'run'?"},
    {{"tailgate", "help", "reprot"},
     "unknown command 'reprot'; did you mean 'report'?"},
    {{"tailgate", "version", "x"}, "version takes no arguments"},
    {{"tailgate", "run", URL, "--rat", "5"},
     "unknown flag '--rat'; did you mean '--rate'?"},
    {{"tailgate", "run", URL, "-Z"}, "unknown flag '-Z'"},
    {{"tailgate", "run", URL, "--rate"}, "--rate requires a value (RATE)"},
    {{"tailgate", "run", URL, "--rate", "-5"},
     "--rate: '-5' is not a rate; write 50, 0.5 or 2/m (above 0)"},
    {{"tailgate", "run", URL, "--rate", "0"},
     "--rate: '0' is not a rate; write 50, 0.5 or 2/m (above 0)"},
    {{"tailgate", "search", URL, "--slo", "errors < 1%", "--start", "0"},
     "--start: must be above 0"},
    {{"tailgate", "search", URL, "--slo", "errors < 1%", "--max", "0"},
     "--max: must be above 0"},
    {{"tailgate", "search", URL, "--slo", "errors < 1%", "--tolerance", "0"},
     "--tolerance: must be above 0"},
    {{"tailgate", "search", URL, "--slo", "errors < 1%", "--by", "concurrency",
      "--start", "1.5"},
     "--start: 1.5 is not a whole number of clients"},
    {{"tailgate", "run", URL, "--rate", "10/fortnight"},
     "--rate: '10/fortnight' is not a rate; write 50, 0.5 or 2/m (above 0)"},
    {{"tailgate", "run", URL, "--rate", "1e17"},
     "--rate: '1e17' is out of range; a rate is 1e-12/s to 1e15/s"},
    {{"tailgate", "run", URL, "--rate", "nan"},
     "--rate: 'nan' is not a rate; write 50, 0.5 or 2/m (above 0)"},
    {{"tailgate", "run", URL, "--rate", "5", "--duration", "10"},
     "--duration: '10' is not a duration; write 500ms, 2s or 1h30m"},
    {{"tailgate", "run", URL, "--rate", "5", "--duration", "-1s"},
     "--duration: '-1s' is not a duration; write 500ms, 2s or 1h30m"},
    {{"tailgate", "run", URL, "--rate", "5", "--timeout", "0"},
     "--timeout: must be above 0"},
    {{"tailgate", "run", URL, "--rate", "5", "-n", "1.5"},
     "--requests: '1.5' is not a count; write 1000, 10k or 1M"},
    {{"tailgate", "run", URL, "--rate", "5", "--seed", "x"},
     "--seed: 'x' is not a seed; write a whole number, 0 or more"},
    {{"tailgate", "run", URL, "--rate", "5", "--arrival", "poison"},
     "--arrival: 'poison' is not one of: poisson, constant, gamma; did you "
     "mean 'poisson'?"},
    {{"tailgate", "run", URL, "--rate", "5", "--input-len", "5e7"},
     "--input-len: '5e7' is more than 3,000,000 tokens"},
    {{"tailgate", "run", URL, "--rate", "5", "--input-len",
      "uniform 1 99999999999"},
     "--input-len: 'uniform 1 99999999999' is more than 3,000,000 tokens"},
    {{"tailgate", "run", URL, "--rate", "5", "--output-len", "2147483648"},
     "--output-len: '2147483648' is more than 3,000,000 tokens"},
    {{"tailgate", "run", URL, "--rate", "5", "--shared-prefix", "4M"},
     "--shared-prefix: '4M' is more than 3,000,000 tokens"},
    {{"tailgate", "run", URL},
     "load: neither a rate (--rate) nor a number of clients (-c) is given"},
    {{"tailgate", "run", "--rate", "5"},
     "--url is missing: give a URL, or a settings file that has one"},
    {{"tailgate", "run", URL, "--rate", "5", "--clients", "3"},
     "--clients requires --scenario closed; with --rate the scenario is "
     "server"},
    {{"tailgate", "run", URL, "--clients", "1000001"},
     "--clients: '1000001' is above the maximum of 1000000"},
    {{"tailgate", "run", URL, "-c", "2M"},
     "--connections: '2M' is above the maximum of 1000000"},
    {{"tailgate", "run", URL, "--rate", "5", "-c", "9007199254740992"},
     "--connections: '9007199254740992' is above the maximum of 1000000"},
    {{"tailgate", "run", URL, "--scenario", "closed", "--rate", "5"},
     "--rate requires --scenario server or sessions, not closed"},
    {{"tailgate", "run", URL, "--rate", "5", "--warmup", "1s",
      "--warmup-requests", "9"},
     "--warmup-requests cannot be combined with --warmup"},
    {{"tailgate", "run", URL, "--rate", "5", "--warmup-requests", "0"},
     "--warmup-requests: must be above 0"},
    {{"tailgate", "run", URL, "--scenario", "offline", "-n", "5", "--cooldown",
      "1s"},
     "--cooldown cannot be combined with --scenario offline"},
    {{"tailgate", "run", URL, "-c", "5", "-t", "2", "-n", "5", "--cooldown",
      "1s"},
     "--cooldown: a closed loop that ends after a number of requests "
     "requires one thread, not 2; use --threads 1, or end it after a duration"},
    {{"tailgate", "run", URL, "--scenario", "server"},
     "--scenario server requires --rate"},
    {{"tailgate", "run", URL, "--rate", "5", "--slo", "e2e p99 200ms"},
     "--slo: 'e2e p99 200ms' is not an SLO term; write 'e2e p99 < 200ms', "
     "'errors < 0.1%', 'good >= 90%' or 'goodput >= 40/s'"},
    {{"tailgate", "run", URL, "--rate", "5", "--slo", "latency p99 < 1s"},
     "--slo: unknown measure 'latency'; did you mean 'e2e'? The measures are "
     "e2e, service, lag, connect, tls, ttfb, ttft, tpot, stall, tail, gap, "
     "itl, query, errors, good, goodput, quality"},
    {{"tailgate", "run", URL, "--rate", "5", "--slo", "e2e p101 < 1s"},
     "--slo: SLO on e2e: 'p101' is not a quantile; write p50, p99 or "
     "p99.9"},
    {{"tailgate", "run", URL, "--rate", "5", "--slo", "errors < 200%"},
     "--slo: SLO on errors: '200%' is not a share of 0 to 100%; write 0.1% "
     "or 0.001"},
    {{"tailgate", "run", URL, "--rate", "5", "--set", "load.rat=5"},
     "--set: load.rat: unknown key 'rat' in load; did you mean 'rate'?"},
    {{"tailgate", "run", URL, "--rate", "5", "--set", "lod.rate=5"},
     "--set: 'lod.rate': there is no block 'lod'"},
    {{"tailgate", "run", URL, "--rate", "5", "-H", "nocolon"},
     "--header: 'nocolon' must have the form key:value"},
    {{"tailgate", "run", URL, "--rate", "5", "--body", "@/no/such"},
     "--body: /no/such: No such file or directory"},
    {{"tailgate", "run", URL, "--rate", "5", "-X", "GE T"},
     "--method: 'GE T' is not a valid method"},
    {{"tailgate", "run", "ftp://x/", "--rate", "5"},
     "'ftp://x/': the scheme 'ftp' is not supported; write http://, "
     "https://, grpc://, grpcs:// or null://"},
    {{"tailgate", "run", "http://:80/", "--rate", "5"},
     "'http://:80/' is not a URL; write http://host:port/path"},
    {{"tailgate", "run", "http://h:99999/", "--rate", "5"},
     "'http://h:99999/': the port must be from 1 to 65535"},
    {{"tailgate", "run", URL, "--rate", "5", "-d", "99999999h"},
     "--duration: '99999999h' is too long; at most 53375d"},
    {{"tailgate", "run", URL, "--rate", "5", "--wait-ready", "0s"},
     "--wait-ready: must be above 0"},
    {{"tailgate", "run", URL, "--rate", "5", "-H", "host:"},
     "--header: Host must not be empty"},
    {{"tailgate", "run", URL, "--rate", "5", "--url", "http://h/"},
     "--url cannot be combined with a URL given as an argument"},
    {{"tailgate", "run", URL, "--rate", "5", "--cpus", "3-1"},
     "--cpus: '3-1' is not a list of CPUs; write 0,2-3"},
    {{"tailgate", "run", "host?x", "--rate", "5"},
     "host?x: No such file or directory; if it is a URL, write http://"},
    {{"tailgate", "run", "127.0.0.1:99999", "--rate", "5"},
     "127.0.0.1:99999: No such file or directory; if it is a URL, write "
     "http://"},
    {{"tailgate", "run", URL, "--request-rate", "inf"},
     "--rate: 'inf' is not a rate; --scenario offline sends all requests at "
     "once"},
    {{"tailgate", "run", URL, "--vus", "3"},
     "unknown flag '--vus' (k6); use --concurrency"},
    {{"tailgate", "run", URL, "-z", "3s"},
     "unknown flag '-z' (hey and oha); use --duration"},
    {{"tailgate", "run", URL, "--random-prefix-len=3"},
     "unknown flag '--random-prefix-len' (vLLM bench); use --shared-prefix"},
    {{"tailgate", "run", URL, "--hf-split", "train"},
     "unknown flag '--hf-split' (vLLM bench); use --data: a file; data sets "
     "are not downloaded"},
    {{"tailgate", "run", URL, "--latency"},
     "unknown flag '--latency' (wrk); percentiles are always reported"},
    {{"tailgate", "report", "/", "--vus", "3"}, "unknown flag '--vus'"},
    {{"tailgate", "run", URL, "--rates", "1-10"},
     "unknown flag '--rates' (sweep); 'tailgate sweep' makes a run at each of "
     "several rates"},
    {{"tailgate", "sweep", URL, "--rates", "1-10"},
     "--rates: write '1,2..10' for the range from 1 to 10 in steps of 1"},
    {{"tailgate", "completion", "tcsh"},
     "completion works for bash, zsh or fish: name one"},
    {{"tailgate", "run", URL, "--set", "load=3"},
     "--set: 'load' is a block; write load.key=value"},
    {{"tailgate", "report", "/"}, "/: not a recording (no manifest.json)"},
    {{"tailgate", "run", "/no/such.yaml"},
     "/no/such.yaml: No such file or directory"},
    {{"tailgate", "validate", URL, "--rate", "5x"},
     "--rate: '5x' is not a rate; write 50, 0.5 or 2/m (above 0)"},
    {{"tailgate", "report"}, "report takes one recording, not 0"},
    {{"tailgate", "report", "/no/such"}, "/no/such: No such file or directory"},
    {{"tailgate", "report", "/no/such", "--prices", "/no/prices"},
     "--prices: /no/prices: No such file or directory"},
    {{"tailgate", "run", URL, "--rate", "5", "--usd-per-hour", "-3"},
     "--usd-per-hour: '-3' is not valid; write a number from 0 up, such as "
     "0.5"},
    {{"tailgate", "run", URL, "--rate", "5", "--usd-per-hour", "1e308"},
     "--usd-per-hour: '1e308' is out of range; a number is 0 or 1e-12 to 1e15"},
    {{"tailgate", "rerun", "/no/such"}, "/no/such: No such file or directory"},
    {{"tailgate", "rerun", "/"}, "/: not a recording (no manifest.json)"},
    {{"tailgate", "merge", "/", "-o", "/no/such"},
     "/: not a recording (no manifest.json)"},
    {{"tailgate", "merge", "/no/such", "-o", "/no/such"},
     "/no/such: No such file or directory"},
    {{"tailgate", "baseline"},
     "baseline requires one of freeze, show, check, against"},
    {{"tailgate", "baseline", "freze"},
     "baseline: 'freze' is not one of freeze, show, check, against; did you "
     "mean "
     "'freeze'?"},
    {{"tailgate", "baseline", "check", "/no/such"},
     "/no/such: No such file or directory"},
    {{"tailgate", "baseline", "show", "/"}, "/: Is a directory"},
    {{"tailgate", "baseline", "show", "/dev/null"},
     "/dev/null: not a baseline"},
    {{"tailgate", "scale", "/no/such", "--strong"},
     "/no/such: No such file or directory"},
    {{"tailgate", "scale", "/dev/zero", "--strong"},
     "/dev/zero: larger than 8388608 bytes"},
    {{"tailgate", "init", URL, "-o", "/"},
     "/: the file exists; --force replaces it"},
    {{"tailgate", "run", URL, "--rate", "5", "--seeds", "lottery"},
     "--seeds: 'lottery' is not one of: own, mlperf"},
    {{"tailgate", "report", "x", "--json", "--format", "csv"},
     "--json cannot be combined with --format csv"},
    {{"tailgate", "stub", "--service", "exponential"},
     "--service: 'exponential' is not a distribution; write 'none', 'fixed "
     "2ms', "
     "'uniform 1ms 3ms' (minimum, maximum), 'exponential 2ms', 'normal 20ms "
     "5ms', "
     "'lognormal 20ms 5ms' (mean, deviation) or "
     "'empirical 0:1ms 50:2ms 100:9ms'; or 'batch 5ms 1ms' (base, per item), "
     "or 'llm'"},
    {{"tailgate", "stub", "--port", "65536"},
     "--port: '65536' is not a port (0 to 65535)"},
};

TEST(command_lines)
{
    for (size_t i = 0; i < COUNT(command_cases); i++)
        check(command_cases[i].argv, 2, command_cases[i].want);
}

/* "%s" stands for the file's path. */
static const struct {
    const char *text;
    const char *want;
} bad_files[] = {
    {"load:\n  rat: 5\n",
     "%s:2: unknown key 'rat' in load; did you mean 'rate'?"},
    {"lode: {rate: 5}\n", "%s:1: unknown key 'lode'; did you mean 'load'?"},
    {"load: {rate: 5}\nname: x\nload: {seed: 1}\n",
     "%s:3: duplicate key 'load', first on line 1"},
    {"load:\n  rate: 5\n  rate: 6\n",
     "%s:3: duplicate key 'rate', first on line 2"},
    {"load:\n  duration: 10 parsecs\n",
     "%s:2: duration: '10 parsecs' is not a duration; write 500ms, 2s or "
     "1h30m"},
    {"load:\n  rate: -1\n",
     "%s:2: rate: '-1' is not a rate; write 50, 0.5 or 2/m (above 0)"},
    {"load: [1, 2]\n", "%s:1: load: must be a map of key: value"},
    {"load:\n  rate: [5]\n",
     "%s:2: rate: must be one value, not a list or a block"},
    {"load: {rate: 5\n", "%s:2: a ',' or '}' is missing"},
    {"a: &x 1\n", "%s:1: anchors, aliases and tags are not allowed"},
    {"name: *x\n", "%s:1: anchors, aliases and tags are not allowed"},
    {"just text\n", "%s:1: expected 'key: value' lines"},
    {"name: a\n---\nname: b\n",
     "%s:2: the file must contain only one document"},
    {"slo:\n  - e2e p99 < 1s\n  - e2e p99 << 1s\n",
     "%s:3: slo[2]: SLO on e2e: write '<', not '<<'"},
    {"target: {url: [http://h/, http://h/, 7]}\n",
     "%s:1: url[3]: '7' is not a URL; write http://host:port/path"},
    {"slo: [a, {b: c}]\n",
     "%s:1: slo[1]: 'a' is not an SLO term; write 'e2e p99 < 200ms', "
     "'errors < 0.1%', 'good >= 90%' or 'goodput >= 40/s'"},
    {"slo: [{b: c}]\n",
     "%s:1: slo[1]: must be one value, not a list or a block"},
    {"target: {url: http://h/}\nload: {scenario: server}\n",
     "%s:2: load.scenario: server requires load.rate (--rate)"},
    {"target: {url: http://h/}\n",
     "%s: load: neither a rate (--rate) nor a number of clients (-c) is given"},
    {"target: {url: http://h/}\nload:\n  scenario: single-stream\n"
     "  rate: 5\n",
     "%s:4: load.rate requires load.scenario: server or sessions, not "
     "single-stream"},
    {"target: {url: http://h/}\nload:\n  stages: [5/s 1s]\n"
     "  duration: 5s\n",
     "%s:3: load.stages cannot be combined with load.duration"},
    {"target: {url: http://h/}\nload:\n  rate: 5\n  shape: spike 5 50\n",
     "%s:4: shape: 'spike 5 50' is not a spike; write 'spike 50/s 500/s at "
     "1m for 10s of 3m'"},
    {"target:\n  url: http://h/\n  cert: c.pem\nload: {rate: 5}\n",
     "%s:3: target.cert requires target.key"},
    {"target:\n  url: http://h/\n  body: '@/no/such'\nload: {rate: 5}\n",
     "%s:3: target.body: /no/such: No such file or directory"},
    {"target: {url: http://h/}\nload: {rate: 5}\nclient:\n  threads: 99\n",
     "%s:4: client.threads: 99 is above the maximum of 64"},
    {"target: {url: http://h/}\nload:\n  rate: 20M\n",
     "%s:3: load.rate: a rate of 2e+07/s is above the maximum of 1e+07/s"},
    {"target: {url: http://h/}\nload:\n  stop: decided\n  rate: 5\n",
     "%s:3: load.stop: decided requires slo"},
    {"stub:\n  replicas: 99\nload: {rate: 5}\n",
     "%s:2: stub.replicas: must be from 1 to 64"},
    {"target: {url: server}\n",
     "%s:1: url: 'server' is not a URL; write http://host:port/path"},
    {"target: {url: http://h/}\nload: {rate: 5, burst_on: 1s}\n",
     "%s:2: load.burst_on requires load.burst_off"},
    {"target: {url: http://h/}\nload:\n  rate: 5\n  clients: 3\n",
     "%s:4: load.clients requires load.scenario: closed; with load.rate the "
     "scenario is server"},
    {"target: {headers: [a]}\n", "%s:1: headers: must be a map of key: value"},
    {"client: {connections: many}\n",
     "%s:1: connections: 'many' is not a count; write 1000, 10k or 1M"},
};

TEST(settings_files)
{
    for (size_t i = 0; i < COUNT(bad_files); i++) {
        char *path = tmpdir_write("bad.yaml", bad_files[i].text,
                                  strlen(bad_files[i].text));
        const char *rest = strstr(bad_files[i].want, "%s") + 2;
        char *want = keepf("%s%s", path, rest);

        check(ARGS("run", path), 2, want);
    }
}

/* A flag that does not fit the file. */
TEST(flags_and_files)
{
    static const char text[] =
        "target: {url: http://h/}\nload:\n  scenario: offline\n";
    char *path = tmpdir_write("offline.yaml", text, strlen(text));
    char *want = keepf("--rate requires load.scenario: server or sessions, "
                       "not offline (%s:3)",
                       path);

    check(ARGS("run", path, "--rate", "5"), 2, want);
}

/* A file that the settings name: "%s" is the directory of both. */
static const struct {
    const char *text;
    const char *want; /* behind the settings file */
} named_files[] = {
    {"load: {rate: 5}\ndata:\n  file: none\n",
     ":4: data.file: %s/none: No such file or directory"},
    {"load: {rate: 5}\ndata:\n  file: /\n",
     ":4: data.file: /: is not a regular file"},
    {"load: {rate: 5}\ndata:\n  file: empty\n",
     ":4: data.file: %s/empty: is empty"},
    {"load: {rate: 5}\ndata:\n  file: some.jsonl\n",
     ":4: data.file: %s/some.jsonl:2: no prompt for openai-completions, "
     "although other samples have one; name the field with --prompt-field"},
    {"load: {rate: 5}\ndata:\n  file: some.jsonl\n  prompt: z\n",
     ":5: data.prompt: %s/some.jsonl:1: has no field 'z'"},
    {"load: {rate: 5}\nclasses:\n  - name: a\n    data:\n      file: none\n",
     ":6: classes: a: data.file: %s/none: No such file or directory"},
    {"load: {rate: 5}\nclasses:\n  - name: a\n"
     "    target: {url: http://h/v2/models/m/infer}\n    data:\n"
     "      {file: some.jsonl, format: tensors, tensors: x FP32 4}\n",
     ":7: classes: a: data.file: %s/some.jsonl: its size of 25 bytes "
     "is not a multiple of the sample size of 16 bytes"},
    {"load: {rate: 5}\nclasses:\n  - name: a\n"
     "    target: {url: http://h/v2/models/m/infer}\n    data:\n"
     "      {file: nan, format: tensors, tensors: x FP32 2}\n",
     ":7: classes: a: data.file: %s/nan: at byte 0: x has a value that is not "
     "a finite number "
     "and can only be sent as raw bytes (--binary-tensors)"},
    {"load: {stages: [5/s 1s]}\ndata: {file: some.jsonl, accuracy: true}\n",
     ":3: data.accuracy cannot be combined with load.stages (--stage)"},
    {"trace:\n  file: none\n",
     ":3: trace.file: %s/none: No such file or directory"},
    {"trace:\n  file: empty\n", ":3: trace.file: %s/empty: is empty"},
    {"trace:\n  file: bad.csv\n",
     ":3: trace.file: %s/bad.csv: no rows to replay; 0 rows were read, 2 "
     "lines are damaged: %s/bad.csv:2: timestamp: not a time; %s/bad.csv:3: "
     "fewer fields than the first line"},
    {"trace:\n  file: two.csv\n",
     ":3: trace.file: %s/two.csv:1: two columns 'timestamp' in the first line"},
};

static void write_named(void)
{
    static const struct {
        const char *name;
        const char *text;
    } files[] = {
        {"empty", ""},
        {"nan", "\377\377\377\377\1\1\1\1"},
        {"some.jsonl", "{\"prompt\":\"a\"}\n{\"q\":\"b\"}\n"},
        {"bad.csv", "timestamp,input_length,output_length\nx,1,1\n1,1\n"},
        {"two.csv",
         "timestamp,input_length,output_length,timestamp\n1,1,1,1\n"},
    };

    for (size_t i = 0; i < COUNT(files); i++)
        tmpdir_write(files[i].name, files[i].text, strlen(files[i].text));
}

/* The text with `with` for each "%s"; the caller frees it. */
static char *fill_in(const char *text, const char *with)
{
    char *out = xstrdup("");
    char *filled;

    for (const char *end; (end = strstr(text, "%s")); text = end + 2) {
        char *more = xasprintf("%s%.*s%s", out, (int)(end - text), text, with);

        free(out);
        out = more;
    }
    filled = keepf("%s%s", out, text);
    free(out);
    return filled;
}

TEST(files_that_settings_name)
{
    write_named();
    for (size_t i = 0; i < COUNT(named_files); i++) {
        char *text = keepf("target: {url: http://h/v1/completions}\n%s",
                           named_files[i].text);
        char *path = tmpdir_write("bad.yaml", text, strlen(text));
        char *rest = fill_in(named_files[i].want, tmpdir_root());
        char *want = keepf("%s%s", path, rest);

        check(ARGS("validate", path), 2, want);
    }
}

TEST(nobody_listening)
{
    int port = refusing_port();
    char *url = keepf("http://127.0.0.1:%d/", port);
    char *want = keepf("127.0.0.1:%d: Connection refused", port);
    const char *dir = tmpdir_path("never-made");

    check(ARGS("run", url, "--rate", "5", "-o", dir), 3, want);
    check(ARGS("report", dir), 2,
          (free(want), want = keepf("%s: No such file or directory", dir)));
}

TEST(damaged_recordings)
{
    char *want;
    const char *dir = tmpdir_root();

    tmpdir_write("manifest.json", "{]", 2);
    want = keepf("%s/manifest.json:1: string or '}' expected near ']'", dir);
    check(ARGS("report", dir), 3, want);
    tmpdir_write("manifest.json", "{\"schema\": 99}", 14);
    want = keepf(
        "%s/manifest.json: unknown schema 99; this tailgate reads schema 1",
        dir);
    check(ARGS("report", dir), 3, want);
}

GROUP_FIXTURE(tmpdir_setup, tmpdir_teardown)
