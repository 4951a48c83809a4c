/* What each series of chips does in its own way; beside it are hal_serial_read and _write. */
#ifndef SERIES_H
#define SERIES_H

#include "board.h"
#include "chip.h"

void start_clock(void);
void start_marker(void);
void start_serial(void);

/* Where FLASH_PAGE_BYTES is not 0: bits of a word go from 1 to 0, and all of a page to 1. By
   functions of the ROM, with interrupts off: flash cannot be read while it is changed, and the
   handlers lie in it. What could not be done is seen by who reads it again. */
void flash_write(uint32_t address, uint32_t word);
void flash_erase(uint32_t address);

/* NVIC_ISER, NVIC_ICER and NVIC_ICPR (ARM DDI 0403E, section B3.4) of the serial port's interrupt.
 */
#define SERIAL_ISER (((volatile uint32_t *)0xe000e100)[SERIAL_INTERRUPT / 32])
#define SERIAL_ICER (((volatile uint32_t *)0xe000e180)[SERIAL_INTERRUPT / 32])
#define SERIAL_ICPR (((volatile uint32_t *)0xe000e280)[SERIAL_INTERRUPT / 32])
#define SERIAL_INTERRUPT_BIT (1ul << SERIAL_INTERRUPT % 32)

/* The core sleeps while it waits for the serial port: the current then shows to a meter when the
   board works. The port's interrupt is enabled in the NVIC and masked by PRIMASK: it ends the
   sleep all the same (section B1.5.19), and no handler runs. */
static inline void serial_interrupt_wakes(void) {
    __asm__ volatile("cpsid i");
    SERIAL_ISER = SERIAL_INTERRUPT_BIT;
}

/* So that what waits for other interrupts is not woken. */
static inline void serial_interrupt_wakes_not(void) {
    SERIAL_ICER = SERIAL_INTERRUPT_BIT;
}

/* Before one looks whether there is something to wait for. */
static inline void serial_interrupt_forget(void) {
    SERIAL_ICPR = SERIAL_INTERRUPT_BIT;
    __asm__ volatile("dsb" ::: "memory");
}

static inline void sleep_until_serial_interrupt(void) {
    __asm__ volatile("wfi" ::: "memory");
}

/* Sleeps until one of these interrupts of one word of the NVIC, in the same way; the serial port's
   does not wake. */
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

/* No handler runs until interrupts_restore; it takes what this returns. */
static inline uint32_t interrupts_off(void) {
    uint32_t masked;
    __asm__ volatile("mrs %0, primask\n cpsid i" : "=r"(masked)::"memory");
    return masked;
}

static inline void interrupts_restore(uint32_t masked) {
    __asm__ volatile("msr primask, %0" ::"r"(masked) : "memory");
}

/* What was written to memory is there before another master of the bus is told of it. */
static inline void finish_writes(void) {
    __asm__ volatile("dsb" ::: "memory");
}

#endif
