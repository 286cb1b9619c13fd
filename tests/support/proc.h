/* proc.h - start the executable under test, wait for it, read what it said.
 *
 * Every process started here is ended here, by its pid.
 */
#ifndef TESTS_SUPPORT_PROC_H
#define TESTS_SUPPORT_PROC_H

#include <stdbool.h>
#include <sys/types.h>

struct json_t;
struct tgr_schema;

/* The state directory of every process that is started here, unless `prepare`
 * sets another: what somebody calibrated on this machine is not part of a test.
 * There is none, and none can be made. */
#define PROC_NO_STATE "/dev/null/none"

/* What a finished process left (see keep.h). */
struct proc_result {
    int status; /* exit code, or 128 + signal */
    char *out;
    char *err;
    double cpu_s; /* user and system */
    long max_rss_kb;
};

/* A process that runs. */
struct proc {
    pid_t pid;
    int out_fd;
    int err_fd;
};

/* Arguments of tailgate, NULL-terminated; argv[0] is filled in. */
#define ARGS(...) ((const char *const[]){"tailgate", __VA_ARGS__, NULL})

struct proc proc_start(const char *const *argv);

/* `prepare` runs in the child, just before it becomes tailgate. */
struct proc proc_start_with(const char *const *argv, void (*prepare)(void));
struct proc_result proc_wait(struct proc *p);

/* Start and wait. */
struct proc_result proc_run(const char *const *argv);

/* It must have ended so; else what it said is shown. */
void proc_expect(const struct proc_result *r, int status);

/* The same for a run that recorded to `dir`.  A run whose trust checks failed
 * because of the machine ends with 4, see was_disturbed(); what its summary
 * records decides which of the two statuses is the one that is accepted. */
void run_expect(const struct proc_result *r, const char *dir, int status);

/* Did checks fail, and only those that other load on this machine can fail,
 * such as lag or stolen ticks?  Which checks fail when is tested on made
 * recordings (unit.trust, unit.trust_client). */
bool was_disturbed(const struct json_t *summary);

/* A study in `dir`, made with -v, ended with the status of `report -v DIR`, and
 * printed the same text.  What status a set of recordings deserves is tested on
 * made ones. */
void expect_as_reported(const struct proc_result *r, const char *dir);

/* The same of the status alone, where the text is another format's. */
void expect_status_as_reported(const struct proc_result *r, const char *dir);

/* Run tailgate with a command line that has `-o DIR`, and expect that. */
void run_as_reported(const char *const *argv);

/* One line of its standard output, without the newline. */
char *proc_read_line(struct proc *p);

/* The same of its standard error. */
char *proc_read_error(struct proc *p);

/* `tailgate stub` with these arguments; and its URL. */
struct proc stub_start(const char *const *argv, char **url);

/* SIGTERM, and it must end with 0. */
void stub_stop(struct proc *p);

/* Until the run that records to `dir` has written rows; it has to within
 * seconds. */
void wait_for_rows(const char *dir);

/* The same of another of its tables. */
void wait_for_table(const char *dir, const char *name,
                    const struct tgr_schema *schema);

/* Until it has a handler for this signal: before, the signal just ends it. */
void wait_for_handler(const struct proc *p, int signal_number);

/* Until it has none any more. */
void wait_for_no_handler(const struct proc *p, int signal_number);

/* A port on which nothing listens, nor will before the test has ended. */
int refusing_port(void);

/* DIR/summary.json.  The accounting identity is checked
 * on the way, since it must hold in every summary. */
struct json_t *load_summary(const char *dir);

/* The same for DIR/manifest.json. */
struct json_t *load_manifest(const char *dir);

/* A number at a path such as "requests.ok"; fails the test if it is not there.
 */
double number_at(const struct json_t *json, const char *path);

#endif
