/* The interface to the CC2420's engine for the modes on it. A radio that is off or does not respond
   cannot hang the caller: each wait has a limit. */
#ifndef AES_CC2420_ENGINE_USE_H
#define AES_CC2420_ENGINE_USE_H

#include <stdbool.h>

#include "aes.h"
#include "cc2420-burst.h"

/* The engine takes 222 us for the longest frame (SWRS041B, table 8); a poll takes at least 2 us. */
enum { AES_CC2420_POLLS_MAX = 200 };

/* Ensures that the radio is on and holds a context's key as its key 0. */
void aes_cc2420_use(const aes_ctx *ctx);

/* Section 21 of SWRS041B: keys and nonces are stored least significant byte first. */
static inline void aes_cc2420_write_reversed(uint16_t address, const uint8_t *block) {
    select_ram(address, 0);
    for (uint8_t i = AES_BLOCK_BYTES; i != 0; i--)
        exchange(block[i - 1]);
    deselect();
}

static inline void aes_cc2420_read(uint16_t address, uint8_t *bytes, uint8_t count) {
    select_ram(address, RAM_READ);
    get(bytes, count);
    deselect();
}

/* Sends a strobe; returns whether the engine started and finished. */
static inline bool aes_cc2420_run(uint8_t code) {
    strobe(code);
    uint8_t status = strobe(SNOP);
    bool has_begun = (status & ENCRYPTING) != 0;
    for (uint8_t polls = 0; polls < AES_CC2420_POLLS_MAX && (status & ENCRYPTING) != 0; polls++)
        status = strobe(SNOP);
    return has_begun && (status & (OSCILLATOR_STABLE | ENCRYPTING)) == OSCILLATOR_STABLE;
}

#endif
