/* Waiting for ticks of an operating system's clock, in standby, woken by the real-time clock. */
#ifndef WAIT_H
#define WAIT_H

#include <stdint.h>

enum { TICKS_A_SECOND = 128 };

void wait_init(void);

/* Sleeps until the clock has ticked so many times. The first of them may be any part of a tick
   away; none passes between two calls that do little. */
void wait_ticks(uint16_t ticks);

#endif
