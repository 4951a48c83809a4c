/* Number of boots of the mote, kept across reboots, so that a value combined from it and a RAM
   counter that restarts at 0 never repeats. */
#ifndef BOOTS_H
#define BOOTS_H

#include <stdint.h>

enum { BOOTS_MAX = 0xfffe };

/* Returns 1 to BOOTS_MAX; the first call after a boot increments the count. Beyond BOOTS_MAX, or
   when the memory is worn out, it does not return: continuing could reuse a nonce. */
uint16_t boots_count(void);

/* Counts another boot without rebooting, for a counter in RAM that is exhausted. */
uint16_t boots_count_again(void);

#define BOOTS_FLOOR_MAX ((1ul << 30) - 1)

/* A mote that follows another mote's numbers and does not count boots keeps a floor instead: any
   number below it may have been used. Returns 0 when no number was used. */
uint32_t boots_floor(void);

/* Raises the floor; call it before using the numbers between the old floor and the new one. Does
   not return beyond BOOTS_FLOOR_MAX, or when the memory is worn out. */
void boots_raise_floor(uint32_t floor);

#endif
