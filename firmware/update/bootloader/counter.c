#include "counter.h"

#include "flash.h"
#include "layout.h"

/* A record is a value and its complement. Writing only clears bits and erasing only sets them, so a
   write or an erase that is cut short leaves no valid record: its halves are no longer
   complements. Where flash has error correction, that sets a single bit right, as it was or as it
   was to be. A record is what such flash is written by. */
enum { RECORD_BYTES = 8, PAGE_RECORDS = COUNTER_PAGE_BYTES / RECORD_BYTES };

static uint32_t address_of(unsigned place) {
    return COUNTER + RECORD_BYTES * (uint32_t)place;
}

/* Returns the value of a record, or 0. */
static uint32_t record(unsigned place) {
    const volatile uint32_t *words = (const volatile uint32_t *)(uintptr_t)address_of(place);
    uint32_t value = words[0];
    return value == ~words[1] ? value : 0;
}

/* Returns the highest value, and the place after it. */
static uint32_t highest(unsigned *next) {
    uint32_t value = 0;
    *next = 0;
    for (unsigned place = 0; place < 2 * PAGE_RECORDS; place++)
        if (record(place) > value) {
            value = record(place);
            *next = place + 1;
        }
    return value;
}

uint32_t counter_read(void) {
    unsigned next;
    return highest(&next);
}

/* A place where a write was cut short is passed over. A page is erased when its first place is
   needed; the highest value is then in the other page. At most a page of places is tried, so that
   the page with the highest value is never erased. */
void counter_raise(uint32_t to) {
    unsigned next;
    (void)highest(&next);
    for (unsigned end = next + PAGE_RECORDS; next < end; next++) {
        unsigned place = next % (2 * PAGE_RECORDS);
        if (place % PAGE_RECORDS == 0)
            flash_erase(address_of(place));
        const uint32_t words[2] = {to, ~to};
        flash_write(address_of(place), words, 2);
        if (record(place) == to)
            return;
    }
}
