/* A process has a marker only if given one, and its stack is not ours to paint. */
#include "marker.h"

#include <time.h>

static inline void hal_marker_high(void) {
    marker_set(1);
}

static inline void hal_marker_low(void) {
    marker_set(0);
}

static inline uint8_t *hal_stack_pointer(void) {
    return NULL;
}

extern struct timespec hal_timer_started, hal_timer_stopped;

static inline void hal_timer_start(void) {
    clock_gettime(CLOCK_MONOTONIC, &hal_timer_started);
}

static inline void hal_timer_stop(void) {
    clock_gettime(CLOCK_MONOTONIC, &hal_timer_stopped);
}
