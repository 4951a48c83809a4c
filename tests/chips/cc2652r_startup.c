/*
 * TI's start-up code on a CC2652R: it changes the mode of the sensor controller's domain step by
 * step, lets the ROM set trims and the cache, and switches the clocks to their crystals by the
 * ROM's functions.
 */
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define ROM(table, function) (((const uint32_t *)((const uint32_t *)0x10000180)[table])[function])
#define CALL(address, ...) ((uint32_t (*)(uint32_t, uint32_t))(uintptr_t)(address))(__VA_ARGS__)
#define SYSIF(offset) REGISTER(0x400c6000 + (offset))

extern volatile uint32_t trimmed, identity, mode, sources[2], owned[2], time;
volatile uint32_t trimmed, identity, mode, sources[2], owned[2], time;

__attribute__((noreturn)) void reset(void);
void reset(void) {
    identity = REGISTER(0x50001318);
    for (uint32_t function = 0; function < 3; function++) {
        CALL(ROM(28, function), 0, 0);
    }
    /* PDA is 2; the way there from low power is through active, 0. */
    static const uint32_t modes[] = {0, 2};
    for (uint32_t step = 0; step < 2; step++) {
        SYSIF(0x00) = modes[step];
        while (SYSIF(0x04) != modes[step]) {
        }
    }
    CALL(ROM(28, 18), 0, 0);
    while (REGISTER(0x40034000) & 8) {
    }
    mode = REGISTER(0x40034000) & 3;
    /* The fast clock, then the slow one. */
    CALL(ROM(24, 1), 1, 1);
    CALL(((const uint32_t *)0x10000048)[14], 0, 0);
    CALL(ROM(24, 1), 4, 3);
    sources[0] = CALL(ROM(24, 0), 1, 0);
    sources[1] = CALL(ROM(24, 0), 4, 0);
    owned[0] = REGISTER(0x400c8000);
    owned[1] = REGISTER(0x400c8000);
    /* The real-time clock's compare value, by which TI's code times the crystal's start. */
    REGISTER(0x40092000) = 1;
    while (!REGISTER(0x40092030)) {
    }
    time = REGISTER(0x40092030);
    trimmed = 1;
#ifdef CALLS_MORE
    CALL(ROM(10, 0), 0, 0);
#endif
    for (;;) {
    }
}

__attribute__((section(".vectors"), used)) static const uintptr_t vectors[16] = {0x20001000,
                                                                                 (uintptr_t)reset};
/* CCFG: SIZE_AND_DIS_FLAGS is its third word, with DIS_GPRAM in bit 2; the image begins at 0. */
__attribute__((section(".ccfg"), used)) static const uint32_t ccfg[22] = {
    0xffffffff, 0xffffffff, 0x00580000 | DIS_GPRAM << 2, [17] = 0};
