/* Slots in the chip's own flash, where images run. */
#ifndef SLOTS_H
#define SLOTS_H

#include "flash.h"
#include "hal.h"
#include "layout.h"
#include "series.h"

enum { SLOTS_ARE_APART = 0 };

static inline void slots_init(void) {
}

static inline const uint8_t *slots_manifest(unsigned slot) {
    return (const uint8_t *)SLOT(slot);
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

/* Vector table offset register (ARM DDI 0403E, section B3.2.5). */
#define VTOR (*(volatile uint32_t *)0xe000ed08)

/* Starts an image as a reset would. */
__attribute__((noreturn)) static inline void slots_start(uint32_t image) {
    const uint32_t *vectors = (const uint32_t *)image;
    serial_interrupt_wakes_not();
    serial_interrupt_forget();
    VTOR = image;
    __asm__ volatile("dsb\n\tmsr msp, %0\n\tcpsie i\n\tisb\n\tbx %1" ::"r"(vectors[0]),
                     "r"(vectors[1])
                     : "memory");
    __builtin_unreachable();
}

#endif
