/* The image as a Linux process: its serial line is standard input and output. */
#include "hal.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void hal_init(void) {
    marker_open();
}

uint8_t hal_serial_read(void) {
    int byte = getchar();
    if (byte == EOF)
        exit(EXIT_SUCCESS);
    return (uint8_t)byte;
}

void hal_serial_write(uint8_t byte) {
    putchar(byte);
    if (byte == 0)
        fflush(stdout);
}

void hal_quiet(uint16_t ms) {
    struct timespec time = {ms / 1000, ms % 1000 * 1000000l};
    nanosleep(&time, NULL);
}

uint8_t *hal_stack_limit(void) {
    return NULL;
}

struct timespec hal_timer_started, hal_timer_stopped;

/* A tick is 10 ns. In nanoseconds a window of more than 4.3 s would not fit, and a meter that takes
   500 samples a second may need one that long when other processes share the core. */
uint32_t hal_timer_ticks(void) {
    int64_t seconds = hal_timer_stopped.tv_sec - hal_timer_started.tv_sec;
    int64_t ns = seconds * 1000000000 + hal_timer_stopped.tv_nsec - hal_timer_started.tv_nsec;
    return ns / 10 < (int64_t)HAL_TIMER_OVERFLOW ? (uint32_t)(ns / 10) : HAL_TIMER_OVERFLOW;
}
