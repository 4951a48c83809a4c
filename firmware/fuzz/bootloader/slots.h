/* Slots of a bootloader that runs as a program: its flash is memory at its addresses. */
#ifndef SLOTS_H
#define SLOTS_H

#include "flash.h"
#include "hal.h"
#include "layout.h"

enum { SLOTS_ARE_APART = 0 };

static inline void slots_init(void) {
}

static inline const uint8_t *slots_manifest(unsigned slot) {
    return (const uint8_t *)(uintptr_t)SLOT(slot);
}

static inline void slots_read(uint32_t address, uint8_t *to, unsigned count) {
    (void)address, (void)to, (void)count;
}

static inline void slots_erase(uint32_t address) {
    flash_erase(address);
}

static inline void slots_write(uint32_t address, const uint32_t *words, unsigned count) {
    flash_write(address, words, count);
}

__attribute__((noreturn)) void slots_start(uint32_t image);

#endif
