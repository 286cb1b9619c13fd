#include "common/recording/schema.h"

#include <stddef.h>

#include "common/base/clk.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Each time is close to an earlier one and is stored relative to it; rows are
 * in the order in which requests ended.  Counts are plain: most are the same in
 * every row, and cost nothing then. */
#define COLUMN(row, name, unit, to, missing)                                   \
    {                                                                          \
#name, unit, to, offsetof(struct row, name), missing                   \
    }
#define FACT(name, unit, to, missing) COLUMN(facts, name, unit, to, missing)
#define EVENT(name, unit)                                                      \
    COLUMN(content_event, name, unit, TGR_PREVIOUS, TIME_ABSENT)
#define CLIENT(name, unit, missing)                                            \
    COLUMN(observation, name, unit, TGR_PREVIOUS, missing)
#define SCRAPE(name, unit, missing)                                            \
    COLUMN(server_scrape, name, unit, TGR_PREVIOUS, missing)
#define METER(name, unit, missing)                                             \
    COLUMN(meter_reading, name, unit, TGR_PREVIOUS, missing)
#define TRUTH(name, unit, to) COLUMN(truth, name, unit, to, TIME_ABSENT)
#define STEP(name, unit)                                                       \
    COLUMN(truth_step, name, unit, TGR_PREVIOUS, TIME_ABSENT)

#define TABLE(name, list, row, dense)                                          \
    {                                                                          \
        .table = (name), .columns = (list), .len = COUNT(list),                \
        .row_size = sizeof(struct row), .is_dense = (dense)                    \
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
    FACT(target, "", TGR_PLAIN, TIME_ABSENT),
};

const struct tgr_schema schema_requests =
    TABLE("requests", request_columns, facts, false);

static const struct tgr_column event_columns[] = {
    EVENT(seq, ""),
    EVENT(due, "ns"),
    EVENT(at_us, "us"),
    EVENT(tokens, ""),
};

const struct tgr_schema schema_events =
    TABLE("events", event_columns, content_event, true);

static const struct tgr_column client_columns[] = {
    CLIENT(at, "ns", 0),
    CLIENT(unsent, "", 0),
    CLIENT(issued, "", 0),
    CLIENT(done, "", 0),
    CLIENT(connections, "", 0),
    CLIENT(lag_max, "ns", 0),
    CLIENT(cpu, "ns", 0),
    CLIENT(cap_waits, "", 0),
    CLIENT(record_wait, "ns", 0),
    CLIENT(host_ticks, "ticks", TIME_ABSENT),
    CLIENT(host_steal, "ticks", TIME_ABSENT),
    CLIENT(spun, "ns", TIME_ABSENT),
    CLIENT(suspended_max, "ns", TIME_ABSENT),
    CLIENT(throttled, "ns", TIME_ABSENT),
    CLIENT(pressure, "ns", TIME_ABSENT),
    CLIENT(cpu_wait, "ns", TIME_ABSENT),
    CLIENT(cpu_turns, "", TIME_ABSENT),
    CLIENT(asleep, "ns", TIME_ABSENT),
};

const struct tgr_schema schema_client =
    TABLE("client", client_columns, observation, false);

static const struct tgr_column server_columns[] = {
    SCRAPE(at, "ns", 0),
    SCRAPE(took, "ns", TIME_ABSENT),
    SCRAPE(is_failed, "", 0),
    SCRAPE(running, "", TIME_ABSENT),
    SCRAPE(waiting, "", TIME_ABSENT),
    SCRAPE(cache_use, "ppm", TIME_ABSENT),
    SCRAPE(queue_sum_us, "us", TIME_ABSENT),
    SCRAPE(queue_count, "", TIME_ABSENT),
    SCRAPE(prompt_tokens, "", TIME_ABSENT),
    SCRAPE(generated_tokens, "", TIME_ABSENT),
    SCRAPE(cached_tokens, "", TIME_ABSENT),
    SCRAPE(preemptions, "", TIME_ABSENT),
    SCRAPE(requests, "", TIME_ABSENT),
};

const struct tgr_schema schema_server =
    TABLE("server", server_columns, server_scrape, false);

static const struct tgr_column meter_columns[] = {
    METER(at, "ns", 0),
    METER(memory, "B", TIME_ABSENT),
    METER(energy, "uJ", TIME_ABSENT),
};

const struct tgr_schema schema_meter =
    TABLE("meter", meter_columns, meter_reading, false);

static const struct tgr_column truth_columns[] = {
    TRUTH(id, "", TGR_PREVIOUS),       TRUTH(arrival, "ns", TGR_PREVIOUS),
    TRUTH(start, "ns", TGR_COLUMN(1)), TRUTH(service, "ns", TGR_PLAIN),
    TRUTH(first, "ns", TGR_COLUMN(2)), TRUTH(finish, "ns", TGR_COLUMN(4)),
    TRUTH(sent, "ns", TGR_COLUMN(5)),  TRUTH(batch, "", TGR_PLAIN),
    TRUTH(replica, "", TGR_PLAIN),     TRUTH(tokens, "", TGR_PREVIOUS),
    TRUTH(status, "", TGR_PREVIOUS),   TRUTH(faults, "", TGR_PLAIN),
};

const struct tgr_schema schema_truth =
    TABLE("truth", truth_columns, truth, false);

static const struct tgr_column step_columns[] = {
    STEP(id, ""),
    STEP(at, "ns"),
};

const struct tgr_schema schema_truth_steps =
    TABLE("truth-steps", step_columns, truth_step, true);
