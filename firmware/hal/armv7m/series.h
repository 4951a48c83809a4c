/* The functions that differ between series of chips; each series also provides hal_serial_read and
   hal_serial_write. */
#ifndef SERIES_H
#define SERIES_H

#include "board.h"
#include "chip.h"
#include "flash.h"

void start_clock(void);
void start_marker(void);
void start_serial(void);

/* What is written to flash at once, and only once. */
#ifndef FLASH_WRITE_BYTES
#define FLASH_WRITE_BYTES 4
#endif

/* flash.h is there where FLASH_PAGE_BYTES is not 0. Where flash, which holds the handlers, cannot
   be read while it changes, its functions call those of the ROM with interrupts off. */

/* NVIC_ISER, NVIC_ICER and NVIC_ICPR (ARM DDI 0403E, section B3.4) for the serial port's
   interrupt. */
#define SERIAL_ISER (((volatile uint32_t *)0xe000e100)[SERIAL_INTERRUPT / 32])
#define SERIAL_ICER (((volatile uint32_t *)0xe000e180)[SERIAL_INTERRUPT / 32])
#define SERIAL_ICPR (((volatile uint32_t *)0xe000e280)[SERIAL_INTERRUPT / 32])
#define SERIAL_INTERRUPT_BIT (1ul << SERIAL_INTERRUPT % 32)

/* The core sleeps while it waits for the serial port, so that a meter can tell from the current
   when the board works. The port's interrupt is enabled in the NVIC and masked by PRIMASK: it still
   ends the sleep (section B1.5.19), but no handler runs. */
static inline void serial_interrupt_wakes(void) {
    __asm__ volatile("cpsid i");
    SERIAL_ISER = SERIAL_INTERRUPT_BIT;
}

/* Keeps the serial port from waking code that waits for other interrupts. */
static inline void serial_interrupt_wakes_not(void) {
    SERIAL_ICER = SERIAL_INTERRUPT_BIT;
}

/* Clears the pending interrupt. Call it before checking the condition to wait for. */
static inline void serial_interrupt_forget(void) {
    SERIAL_ICPR = SERIAL_INTERRUPT_BIT;
    __asm__ volatile("dsb" ::: "memory");
}

static inline void sleep_until_serial_interrupt(void) {
    __asm__ volatile("wfi" ::: "memory");
}

/* Sleeps in the same way until one of these interrupts, all in one word of the NVIC; the serial
   port does not wake the core. */
static inline void sleep_until_interrupt(uint8_t word, uint32_t interrupts) {
    serial_interrupt_wakes_not();
    __asm__ volatile("cpsid i" ::: "memory");
    ((volatile uint32_t *)0xe000e100)[word] = interrupts;
    __asm__ volatile("dsb\n wfi" ::: "memory");
    ((volatile uint32_t *)0xe000e180)[word] = interrupts;
    ((volatile uint32_t *)0xe000e280)[word] = interrupts;
    serial_interrupt_wakes();
    __asm__ volatile("dsb" ::: "memory");
}

/* Masks all interrupts until interrupts_restore, which takes the returned value. */
static inline uint32_t interrupts_off(void) {
    uint32_t masked;
    __asm__ volatile("mrs %0, primask\n cpsid i" : "=r"(masked)::"memory");
    return masked;
}

static inline void interrupts_restore(uint32_t masked) {
    __asm__ volatile("msr primask, %0" ::"r"(masked) : "memory");
}

/* Completes writes to memory before another bus master is told of them. */
static inline void finish_writes(void) {
    __asm__ volatile("dsb" ::: "memory");
}

#endif
