/* Slots in the TelosB's serial flash, from which an image is copied to where it runs. */
#ifndef SLOTS_H
#define SLOTS_H

#include "hal.h"
#include "layout.h"

enum { SLOTS_ARE_APART = 1 };

void slots_init(void);

/* Returns a slot's manifest, until the next call. */
const uint8_t *slots_manifest(unsigned slot);

void slots_read(uint32_t address, uint8_t *to, unsigned count);
void slots_erase(uint32_t address);
void slots_write(uint32_t address, const uint32_t *words, unsigned count);

/* Starts an image, whose first word is the address of its first instruction, with interrupts off.
   Interrupt vectors remain the bootloader's: the last segment of flash is never erased. */
__attribute__((noreturn)) static inline void slots_start(uint32_t image) {
    const uint16_t entry = *(const uint16_t *)(uintptr_t)image;
    __asm__ volatile("dint\n\tnop\n\tbr %0" ::"r"(entry) : "memory");
    __builtin_unreachable();
}

#endif
