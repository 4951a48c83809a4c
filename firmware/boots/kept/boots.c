#include "boots.h"

#include "kept.h"

static uint16_t boots;

uint16_t boots_count(void) {
    return boots != 0 ? boots : boots_count_again();
}

/* A new count is written to the place after the last one. When that place begins a page, the page
   is erased first; the last count is then in the other page, so one valid count exists at every
   moment. A count whose write failed was never used; it is written again in the next place. */
uint16_t boots_count_again(void) {
    uint16_t count = 0;
    unsigned at = 0;
    for (unsigned i = 0; i < KEPT_RECORDS; i++)
        if (kept_read(i) > count) {
            count = kept_read(i);
            at = i + 1;
        }
    count++;
    /* Try at most one page of places, so the page that holds the last count is never erased. */
    unsigned end = at + KEPT_PAGE_RECORDS;
    do {
        while (count > BOOTS_MAX || at == end)
            continue;
        unsigned place = at++ % KEPT_RECORDS;
        if (place % KEPT_PAGE_RECORDS == 0)
            kept_erase(place);
        kept_write(place, count);
        boots = kept_read(place);
    } while (boots != count);
    return count;
}
