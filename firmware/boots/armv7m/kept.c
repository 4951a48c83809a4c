#include "kept.h"

#include "board.h"
#include "series.h"

_Static_assert(FLASH_PAGE_BYTES > 0, "firmware/hal/armv7m has no flash.c for this series of chips");
_Static_assert(FLASH_WRITE_BYTES == 4, "a record is a word, not a double word");

/* Defined by the linker script, in pages outside the image. */
extern const volatile uint32_t kept_flash[2 * FLASH_PAGE_BYTES / 4];

static const volatile uint32_t *place_of(unsigned at) {
    return kept_flash + at / KEPT_PAGE_RECORDS * (FLASH_PAGE_BYTES / 4) + at % KEPT_PAGE_RECORDS;
}

static uint32_t record_of(uint16_t count) {
    return (uint32_t)(uint16_t)~count << 16 | count;
}

uint16_t kept_read(unsigned at) {
    uint32_t record = *place_of(at);
    uint16_t count = (uint16_t)record;
    return record == record_of(count) ? count : 0;
}

void kept_write(unsigned at, uint16_t count) {
    uint32_t record = record_of(count);
    flash_write((uint32_t)place_of(at), &record, 1);
}

void kept_erase(unsigned at) {
    flash_erase((uint32_t)place_of(at) & ~(uint32_t)(FLASH_PAGE_BYTES - 1));
}
