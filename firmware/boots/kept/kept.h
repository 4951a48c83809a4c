/* Memory that a reboot does not reach: records in two pages, and how they are changed. A folder for
   each family of chips has the functions.

   A record is a count and its complement. Writing takes bits from 1 to 0 and erasing the other way:
   whatever a power cut in between leaves is no record, as the one half then has a bit too many that
   the other half lacks. */
#ifndef KEPT_H
#define KEPT_H

#include <stdint.h>

/* Those of MSP430F1611's information memory, whose segments are 128 bytes; others use no more. */
enum { KEPT_PAGE_RECORDS = 32, KEPT_RECORDS = 2 * KEPT_PAGE_RECORDS };

/* 0 where there is no record. */
uint16_t kept_read(unsigned at);

/* Of a record that is not erased only bits that are 1 in both are left. */
void kept_write(unsigned at, uint16_t count);

/* Erases the page of a record. */
void kept_erase(unsigned at);

#endif
