/* Keccak-f[1600] for RISC-V, on lanes of even and odd bits; a .S file of the implementation
   includes permutation/keccak-f1600-riscv.S. */
#ifndef KECCAK_F1600_RISCV_H
#define KECCAK_F1600_RISCV_H

#include "crypto.h"
#include "permutation/interleave.h"

/* The even bits and the odd bits of a lane. */
typedef struct {
    uint32_t word[2];
} keccak_lane;

/* Keccak-p[1600, 24] of FIPS 202, section 3.3; in keccak-f1600-riscv.S. */
void keccak_f1600(keccak_lane state[25]);

static inline void keccak_permute(keccak_lane state[25]) {
    keccak_f1600(state);
}

static inline void keccak_add(keccak_lane *state, unsigned lane, const uint8_t bytes[8]) {
    uint64_t word =
        interleave((uint64_t)crypto_load_word(bytes + 4) << 32 | crypto_load_word(bytes));
    state[lane].word[0] ^= (uint32_t)word;
    state[lane].word[1] ^= (uint32_t)(word >> 32);
}

static inline void keccak_get(const keccak_lane *state, unsigned lane, uint8_t bytes[8]) {
    uint64_t word = deinterleave((uint64_t)state[lane].word[1] << 32 | state[lane].word[0]);
    crypto_store_word(bytes, (uint32_t)word);
    crypto_store_word(bytes + 4, (uint32_t)(word >> 32));
}

/* Adds the last bit of the padding, which is bit 63 of the rate's last lane. */
static inline void keccak_add_bit63(keccak_lane *state, unsigned lane) {
    state[lane].word[1] ^= 0x80000000;
}

#endif
