/* The Ascon permutation, as NIST SP 800-232 section 3 defines it, for every primitive built on it.

   An implementation folder defines ascon_p once, in a separate file that includes one of
     "permutation/ascon-p-ref.c"       portable
     "permutation/ascon-p-msp430.S"    MSP430 assembly (from a .S file)
     "permutation/ascon-p-armv6m.S"    ARMv6-M assembly (from a .S file)
     "permutation/ascon-p-armv7m.S"    ARMv7-M assembly (from a .S file), over interleaved words
     "permutation/ascon-p-riscv.S"     RISC-V assembly (from a .S file), likewise
   and includes this header elsewhere, in the last two cases after defining ASCON_INTERLEAVED. */
#ifndef ASCON_P_H
#define ASCON_P_H

#include "crypto.h"
#ifdef ASCON_INTERLEAVED
#include "permutation/interleave.h"
#endif

/* S0 to S4. A word's byte 0 is its least significant (SP 800-232, section 2.1, appendix A). */
typedef struct {
    uint64_t x[5];
} ascon_state;

/* Runs the last `rounds` of the 12 rounds: SP 800-232 uses 12 and 8. */
void ascon_p(ascon_state *s, unsigned rounds);

#ifdef ASCON_INTERLEAVED
/* Process whole blocks of a message, at least one: absorb 8 bytes with 12 rounds, crypt 16 bytes
   with 8 rounds. */
void ascon_absorb(ascon_state *s, const uint8_t *data, size_t blocks);
void ascon_crypt(ascon_state *s, uint8_t *out, const uint8_t *in, size_t blocks, int decrypting);
#endif

/* Converts a word to the permutation's representation. */
static inline uint64_t ascon_word(uint64_t word) {
#ifdef ASCON_INTERLEAVED
    return interleave(word);
#else
    return word;
#endif
}

/* Loads a word from bytes, where length <= 8; missing bytes are zero. */
static inline uint64_t ascon_load(const uint8_t *in, size_t length) {
    uint64_t word = 0;
#ifdef ASCON_INTERLEAVED
    if (length == 8)
        return ascon_word((uint64_t)crypto_load_word(in + 4) << 32 | crypto_load_word(in));
#endif
    while (length > 0)
        word = word << 8 | in[--length];
    return ascon_word(word);
}

static inline void ascon_store(uint8_t *out, uint64_t word, size_t length) {
#ifdef ASCON_INTERLEAVED
    word = deinterleave(word);
    if (length == 8) {
        crypto_store_word(out, (uint32_t)word);
        crypto_store_word(out + 4, (uint32_t)(word >> 32));
        return;
    }
#endif
    for (size_t i = 0; i < length; i++) {
        out[i] = (uint8_t)word;
        word >>= 8;
    }
}

/* The padding of SP 800-232, section 2.1: a one bit right after `length` < 8 bytes. */
static inline uint64_t ascon_pad(size_t length) {
    return ascon_word((uint64_t)1 << (8 * length));
}

#endif
