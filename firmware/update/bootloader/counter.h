/* The lowest version that may be started, in two pages of flash. */
#ifndef COUNTER_H
#define COUNTER_H

#include <stdint.h>

uint32_t counter_read(void);

/* Raises it. A power failure at any moment leaves the old or the new value. */
void counter_raise(uint32_t to);

#endif
