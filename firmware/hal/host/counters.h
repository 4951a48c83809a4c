/* The processor's counters by Linux's perf_event, of one process in user mode. */
#ifndef HAL_HOST_COUNTERS_H
#define HAL_HOST_COUNTERS_H

#include <stdint.h>

typedef struct {
    int cycles, instructions; /* open files */
} counters;

/* Of a process, 0 for this one. 0, or the error that Linux says where they do not work. */
int counters_open(counters *made, int process);

void counters_start(const counters *which);

/* What was counted since they were started; 0, or an error. */
int counters_stop(const counters *which, uint64_t *cycles, uint64_t *instructions);

#endif
