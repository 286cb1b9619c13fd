#include "common/recording/schema.h"

#include <stddef.h>

#include "common/base/clk.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Each time lies near the one before it, so that is what it is stored relative
 * to; rows come in the order in which requests ended.  Counts are plain: most
 * are the same in every row, and cost nothing then. */
#define FACT(name, unit, to, missing)                                          \
    {                                                                          \
#name, unit, to, offsetof(struct facts, name), missing                 \
    }

static const struct tgr_column request_columns[] = {
    FACT(seq, "", TGR_PREVIOUS, TIME_ABSENT),
    FACT(due, "ns", TGR_PREVIOUS, TIME_ABSENT),
    FACT(issued, "ns", TGR_COLUMN(1), TIME_ABSENT),
    FACT(sent, "ns", TGR_COLUMN(2), TIME_ABSENT),
    FACT(head, "ns", TGR_COLUMN(3), TIME_ABSENT),
    FACT(first, "ns", TGR_COLUMN(4), TIME_ABSENT),
    FACT(last, "ns", TGR_COLUMN(5), TIME_ABSENT),
    FACT(end, "ns", TGR_COLUMN(6), TIME_ABSENT),
    FACT(outcome, "", TGR_PLAIN, OUTCOME_OK),
    FACT(detail, "", TGR_PLAIN, 0),
    FACT(status, "", TGR_PLAIN, 0),
    FACT(is_fresh, "", TGR_PLAIN, 0),
    FACT(retries, "", TGR_PLAIN, 0),
    FACT(bytes_out, "B", TGR_PLAIN, 0),
    FACT(bytes_in, "B", TGR_PLAIN, 0),
    FACT(buffered, "ns", TGR_PLAIN, TIME_ABSENT),
    FACT(connected, "ns", TGR_COLUMN(2), TIME_ABSENT),
    FACT(secured, "ns", TGR_COLUMN(16), TIME_ABSENT),
    FACT(events, "", TGR_PLAIN, 0),
    FACT(coalesced, "", TGR_PLAIN, 0),
    FACT(stall, "ns", TGR_PLAIN, TIME_ABSENT),
    FACT(prompt_asked, "", TGR_PLAIN, TIME_ABSENT),
    FACT(prompt_tokens, "", TGR_COLUMN(21), TIME_ABSENT),
    FACT(cached_tokens, "", TGR_PLAIN, TIME_ABSENT),
    FACT(output_asked, "", TGR_PLAIN, TIME_ABSENT),
    FACT(output_tokens, "", TGR_COLUMN(24), TIME_ABSENT),
    FACT(reasoning_tokens, "", TGR_PLAIN, TIME_ABSENT),
    FACT(token_source, "", TGR_PLAIN, TOKENS_NONE),
    FACT(event_tokens, "", TGR_COLUMN(25), TIME_ABSENT),
    FACT(first_tokens, "", TGR_PLAIN, TIME_ABSENT),
    FACT(is_split, "", TGR_PLAIN, 0),
    FACT(finish, "", TGR_PLAIN, FINISH_NONE),
    FACT(check, "", TGR_PLAIN, CHECK_NONE),
    FACT(class, "", TGR_PLAIN, 0),
    FACT(session, "", TGR_PLAIN, TIME_ABSENT),
    FACT(turn, "", TGR_PLAIN, 0),
    FACT(repeat, "", TGR_PLAIN, 0),
    FACT(turns, "", TGR_PLAIN, 0),
    FACT(opened, "ns", TGR_COLUMN(5), TIME_ABSENT),
    FACT(closing, "ns", TGR_COLUMN(6), TIME_ABSENT),
    FACT(more, "", TGR_PLAIN, 0),
    FACT(last_seq, "", TGR_PLAIN, 0),
    FACT(choices, "", TGR_COLUMN(18), TIME_ABSENT),
    FACT(choices_first, "ns", TGR_COLUMN(5), TIME_ABSENT),
    FACT(choices_last, "ns", TGR_COLUMN(6), TIME_ABSENT),
};

const struct tgr_schema schema_requests = {
    .table = "requests",
    .columns = request_columns,
    .len = COUNT(request_columns),
    .row_size = sizeof(struct facts),
};

#define EVENT(name, unit)                                                      \
    {                                                                          \
#name, unit, TGR_PREVIOUS, offsetof(struct content_event, name),       \
            TIME_ABSENT                                                        \
    }

static const struct tgr_column event_columns[] = {
    EVENT(seq, ""),
    EVENT(due, "ns"),
    EVENT(at_us, "us"),
    EVENT(tokens, ""),
};

const struct tgr_schema schema_events = {
    .table = "events",
    .columns = event_columns,
    .len = COUNT(event_columns),
    .row_size = sizeof(struct content_event),
    .is_dense = true,
};

#define SEEN(name, unit, missing)                                              \
    {                                                                          \
#name, unit, TGR_PREVIOUS, offsetof(struct observation, name), missing \
    }

static const struct tgr_column client_columns[] = {
    SEEN(at, "ns", 0),
    SEEN(unsent, "", 0),
    SEEN(issued, "", 0),
    SEEN(done, "", 0),
    SEEN(connections, "", 0),
    SEEN(lag_max, "ns", 0),
    SEEN(cpu, "ns", 0),
    SEEN(cap_waits, "", 0),
    SEEN(record_wait, "ns", 0),
    SEEN(host_ticks, "ticks", TIME_ABSENT),
    SEEN(host_steal, "ticks", TIME_ABSENT),
    SEEN(spun, "ns", TIME_ABSENT),
    SEEN(suspended_max, "ns", TIME_ABSENT),
    SEEN(throttled, "ns", TIME_ABSENT),
    SEEN(pressure, "ns", TIME_ABSENT),
    SEEN(cpu_wait, "ns", TIME_ABSENT),
    SEEN(cpu_turns, "", TIME_ABSENT),
    SEEN(asleep, "ns", TIME_ABSENT),
};

const struct tgr_schema schema_client = {
    .table = "client",
    .columns = client_columns,
    .len = COUNT(client_columns),
    .row_size = sizeof(struct observation),
};

#define LOOK(name, unit, missing)                                              \
    {                                                                          \
#name, unit, TGR_PREVIOUS, offsetof(struct server_scrape, name), missing \
    }

static const struct tgr_column server_columns[] = {
    LOOK(at, "ns", 0),
    LOOK(took, "ns", TIME_ABSENT),
    LOOK(is_failed, "", 0),
    LOOK(running, "", TIME_ABSENT),
    LOOK(waiting, "", TIME_ABSENT),
    LOOK(cache_use, "ppm", TIME_ABSENT),
    LOOK(queue_sum_us, "us", TIME_ABSENT),
    LOOK(queue_count, "", TIME_ABSENT),
    LOOK(prompt_tokens, "", TIME_ABSENT),
    LOOK(generated_tokens, "", TIME_ABSENT),
    LOOK(cached_tokens, "", TIME_ABSENT),
    LOOK(preemptions, "", TIME_ABSENT),
    LOOK(requests, "", TIME_ABSENT),
};

const struct tgr_schema schema_server = {
    .table = "server",
    .columns = server_columns,
    .len = COUNT(server_columns),
    .row_size = sizeof(struct server_scrape),
};

#define METERED(name, unit, missing)                                           \
    {                                                                          \
#name, unit, TGR_PREVIOUS, offsetof(struct meter_reading, name), missing  \
    }

static const struct tgr_column meter_columns[] = {
    METERED(at, "ns", 0),
    METERED(memory, "B", TIME_ABSENT),
    METERED(energy, "uJ", TIME_ABSENT),
};

const struct tgr_schema schema_meter = {
    .table = "meter",
    .columns = meter_columns,
    .len = COUNT(meter_columns),
    .row_size = sizeof(struct meter_reading),
};

#define TRUE_FACT(name, unit, to)                                              \
    {                                                                          \
#name, unit, to, offsetof(struct truth, name), TIME_ABSENT             \
    }

static const struct tgr_column truth_columns[] = {
    TRUE_FACT(id, "", TGR_PREVIOUS),
    TRUE_FACT(arrival, "ns", TGR_PREVIOUS),
    TRUE_FACT(start, "ns", TGR_COLUMN(1)),
    TRUE_FACT(service, "ns", TGR_PLAIN),
    TRUE_FACT(first, "ns", TGR_COLUMN(2)),
    TRUE_FACT(finish, "ns", TGR_COLUMN(4)),
    TRUE_FACT(sent, "ns", TGR_COLUMN(5)),
    TRUE_FACT(batch, "", TGR_PLAIN),
    TRUE_FACT(replica, "", TGR_PLAIN),
    TRUE_FACT(tokens, "", TGR_PREVIOUS),
    TRUE_FACT(status, "", TGR_PREVIOUS),
    TRUE_FACT(faults, "", TGR_PLAIN),
};

const struct tgr_schema schema_truth = {
    .table = "truth",
    .columns = truth_columns,
    .len = COUNT(truth_columns),
    .row_size = sizeof(struct truth),
};

static const struct tgr_column step_columns[] = {
    {"id", "", TGR_PREVIOUS, offsetof(struct truth_step, id), TIME_ABSENT},
    {"at", "ns", TGR_PREVIOUS, offsetof(struct truth_step, at), TIME_ABSENT},
};

const struct tgr_schema schema_truth_steps = {
    .table = "truth-steps",
    .columns = step_columns,
    .len = COUNT(step_columns),
    .row_size = sizeof(struct truth_step),
    .is_dense = true,
};
