/* How often the mote has booted, kept where a reboot does not reach it: a counter that goes on
   from 0 in RAM is then still never the same twice. */
#ifndef BOOTS_H
#define BOOTS_H

#include <stdint.h>

enum { BOOTS_MAX = 0xfffe };

/* From 1 to BOOTS_MAX; the first call in a boot counts it. Beyond, or where the memory is worn out,
   it does not return: whatever would follow could use a nonce twice. */
uint16_t boots_count(void);

/* Counts as if the mote had booted again: for a counter in RAM that has come to its end. */
uint16_t boots_count_again(void);

#define BOOTS_FLOOR_MAX ((1ul << 30) - 1)

/* A mote that follows another's numbers, and counts no boots, keeps a floor in their place: all
   numbers below it may have been used. 0: none was. */
uint32_t boots_floor(void);

/* To a higher one, before what is between the two is used. Does not return beyond BOOTS_FLOOR_MAX,
   or where the memory is worn out. */
void boots_raise_floor(uint32_t floor);

#endif
