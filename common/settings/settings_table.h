/* settings_table.h - shorthands of the option tables of struct settings. */
#ifndef COMMON_SETTINGS_SETTINGS_TABLE_H
#define COMMON_SETTINGS_SETTINGS_TABLE_H

#define OPT(its_key, its_flag, its_type, field)                                \
    .key = (its_key), .flag = (its_flag), .type = &opt_##its_type,             \
    .offset = offsetof(struct settings, field)
#define FLAG(its_flag, its_type, field) OPT(NULL, its_flag, its_type, field)
#define KEY(its_key, its_type, field)   OPT(its_key, NULL, its_type, field)

#define BLOCK(name, opts)                                                      \
    {                                                                          \
        name, opts, sizeof(opts) / sizeof((opts)[0])                           \
    }

/* For the column `scenarios`. */
#define FOR(scenario)      (1U << SCENARIO_##scenario)
#define ALL_SCENARIOS      ((1U << (SCENARIO_SESSIONS + 1)) - 2)
#define ALL_BUT(scenario)  (ALL_SCENARIOS & ~FOR(scenario))
#define ALL_BUT_BOTH(a, b) (ALL_SCENARIOS & ~(FOR(a) | FOR(b)))
#define WITH_RATE          (FOR(SERVER) | FOR(SESSIONS))

#endif
