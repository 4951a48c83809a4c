/* The M25P80 on USART0, on the pins of the TelosB (cc2420.h). Instructions are those of the flash's
   data sheet (STMicroelectronics, M25P80). */
#include "slots.h"

#include "cc2420.h"

enum { PROGRAM = 0x02, READ_DATA = 0x03, READ_STATUS = 0x05, WRITE_ENABLE = 0x06 };
enum { SECTOR_ERASE = 0xd8, WRITE_IN_PROGRESS = 0x01 };

static uint8_t manifest[MANIFEST_ROOM];

/* A board's supply may fail and come back while the flash is still busy, but a power-on reset ends
   that (data sheet, power-up); a reset of the chip alone does not. */
static void wait(void) {
    P4OUT &= (uint8_t)~FLASH_SELECT;
    exchange(READ_STATUS);
    while ((exchange(0) & WRITE_IN_PROGRESS) != 0)
        continue;
    P4OUT |= FLASH_SELECT;
}

static void begin(uint8_t instruction, uint32_t address) {
    P4OUT &= (uint8_t)~FLASH_SELECT;
    exchange(instruction);
    exchange((uint8_t)(address >> 16));
    exchange((uint8_t)(address >> 8));
    exchange((uint8_t)address);
}

/* An instruction that changes anything is executed when the flash is deselected. */
static void begin_change(uint8_t instruction, uint32_t address) {
    P4OUT &= (uint8_t)~FLASH_SELECT;
    exchange(WRITE_ENABLE);
    P4OUT |= FLASH_SELECT;
    begin(instruction, address);
}

static void end_change(void) {
    P4OUT |= FLASH_SELECT;
    wait();
}

void slots_init(void) {
    start_bus();
    wait();
}

void slots_read(uint32_t address, uint8_t *to, unsigned count) {
    begin(READ_DATA, address);
    for (unsigned i = 0; i < count; i++)
        to[i] = exchange(0);
    P4OUT |= FLASH_SELECT;
}

const uint8_t *slots_manifest(unsigned slot) {
    slots_read(SLOT(slot), manifest, sizeof manifest);
    return manifest;
}

void slots_erase(uint32_t address) {
    begin_change(SECTOR_ERASE, address);
    end_change();
}

/* A block never crosses a page of the flash. */
void slots_write(uint32_t address, const uint32_t *words, unsigned count) {
    const uint8_t *bytes = (const uint8_t *)words;
    begin_change(PROGRAM, address);
    for (unsigned i = 0; i < 4 * count; i++)
        exchange(bytes[i]);
    end_change();
}
