/* The processor's counters through Linux's perf_event, for one process in user mode. */
#ifndef HAL_HOST_COUNTERS_H
#define HAL_HOST_COUNTERS_H

#include <stdint.h>

typedef struct {
    int cycles, instructions; /* file descriptors */
} counters;

/* Opens the counters of a process; 0 means this one. Returns 0, or Linux's error number where they
   do not work. */
int counters_open(counters *made, int process);

void counters_start(const counters *which);

/* Reads the counts since the start. Returns 0 or an error number. */
int counters_stop(const counters *which, uint64_t *cycles, uint64_t *instructions);

#endif
