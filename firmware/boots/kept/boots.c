#include "boots.h"

#include "kept.h"

static uint16_t boots;

uint16_t boots_count(void) {
    return boots != 0 ? boots : boots_count_again();
}

/* A count goes where the one before it ends, and where that is the begin of a page, it is erased:
   the last count is then in the other one, so that it is there at any moment. A count that could
   not be written has not been used, and goes to the next place. */
uint16_t boots_count_again(void) {
    uint16_t count = 0;
    unsigned at = 0;
    for (unsigned i = 0; i < KEPT_RECORDS; i++)
        if (kept_read(i) > count) {
            count = kept_read(i);
            at = i + 1;
        }
    count++;
    /* As many places as a page has: the one with the last count is not come to. */
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
