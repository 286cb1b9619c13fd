/* cpu_list.h - a list of CPUs: "0,2-3". */
#ifndef COMMON_SPEC_CPU_LIST_H
#define COMMON_SPEC_CPU_LIST_H

#include <stddef.h>

struct err;

#define CPUS_MAX 1024

struct cpus {
    int cpu[CPUS_MAX]; /* in the order given */
    size_t len;
};

/* ERR_CONFIG. */
int cpus_parse(const char *text, struct cpus *out, struct err *err);

/* For an option table. */
int cpus_check(const char *text, struct err *err);

#endif
