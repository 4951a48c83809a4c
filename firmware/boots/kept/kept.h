/* Records in two pages of memory that survives reboots. Each chip family has a folder that
   implements these functions.

   A record is a count and its complement. Writing changes bits from 1 to 0 and erasing changes them
   from 0 to 1, so a write or an erase cut short by a power failure leaves no valid record: the two
   halves are no longer complements. */
#ifndef KEPT_H
#define KEPT_H

#include <stdint.h>

/* The size of the MSP430F1611's information memory, whose segments are 128 bytes; other chips use
   no more. */
enum { KEPT_PAGE_RECORDS = 32, KEPT_RECORDS = 2 * KEPT_PAGE_RECORDS };

/* Returns 0 where there is no record. */
uint16_t kept_read(unsigned at);

/* Writing over a record that is not erased leaves the AND of the two. */
void kept_write(unsigned at, uint16_t count);

/* Erases the page that holds this record. */
void kept_erase(unsigned at);

#endif
