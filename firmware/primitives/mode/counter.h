/* The key stream of a block cipher in counter mode, for CTR and modes built on it. */
#ifndef COUNTER_H
#define COUNTER_H

#include "crypto.h"
#include "over.h"

/* Blocks given to the cipher at a time: some ciphers process several together, and the cost of a
   call is shared. No cipher for a 16-bit core does so, and RAM is scarcer there. */
enum { COUNTER_BATCH = sizeof(size_t) > 2 ? 4 : 1 };

/* Whether an observer may know the counter. Only a public counter's carries may affect timing. */
typedef enum { COUNTER_PUBLIC, COUNTER_SECRET } counter_kind;

/* Adds n to the big-endian number in the block's last `counting` bytes. */
static inline void counter_add(uint8_t *counter, size_t counting, unsigned n, counter_kind kind) {
    uint8_t *byte = counter + BLOCK_CIPHER_BLOCK_BYTES - 1;
    unsigned sum = *byte + n;
    *byte = (uint8_t)sum;
    while ((kind == COUNTER_SECRET || sum > 0xff) && --counting > 0) {
        sum = *--byte + (sum >> 8);
        *byte = (uint8_t)sum;
    }
}

#ifdef BLOCK_CIPHER_HAS_COUNTER
/* counter_encrypt with the cipher's own function. */
__attribute__((unused)) static void counter_run(const block_cipher_ctx *cipher, uint8_t *counter,
                                                size_t counting, uint8_t *out, const uint8_t *in,
                                                size_t length) {
    enum { BLOCK = BLOCK_CIPHER_BLOCK_BYTES };
    size_t whole = length / BLOCK, rest = length % BLOCK;
    while (whole > 0) {
        size_t blocks = 256u - counter[BLOCK - 1];
        if (blocks > whole)
            blocks = whole;
        block_cipher_counter(cipher, out, in, counter, blocks);
        counter_add(counter, counting, (unsigned)blocks, COUNTER_PUBLIC);
        out += blocks * BLOCK;
        in += blocks * BLOCK;
        whole -= blocks;
    }
    if (rest > 0) {
        uint8_t block[BLOCK] = {0};
        __builtin_memcpy(block, in, rest);
        block_cipher_counter(cipher, block, block, counter, 1);
        counter_add(counter, counting, 1, COUNTER_PUBLIC);
        __builtin_memcpy(out, block, rest);
        crypto_wipe(block, sizeof block);
    }
}
#endif

/* out = in XOR the key stream that begins with the block `counter`. The counter is left one past
   the last one used. */
__attribute__((noinline, unused)) static void counter_encrypt(const block_cipher_ctx *cipher,
                                                              uint8_t *counter, size_t counting,
                                                              counter_kind kind, uint8_t *out,
                                                              const uint8_t *in, size_t length) {
    enum { BLOCK = BLOCK_CIPHER_BLOCK_BYTES, BATCH_BYTES = COUNTER_BATCH * BLOCK };
#ifdef BLOCK_CIPHER_HAS_COUNTER
    if (kind == COUNTER_PUBLIC) { /* the wrap of the last byte shows in the timing */
        counter_run(cipher, counter, counting, out, in, length);
        return;
    }
#endif
    uint8_t counters[BATCH_BYTES], stream[BATCH_BYTES];
    if (length == 0)
        return;
    for (uint8_t *block = counters; block < counters + BATCH_BYTES; block += BLOCK) {
        __builtin_memcpy(block, counter, BLOCK);
        counter_add(counter, counting, 1, kind);
    }
    for (;;) {
        size_t bytes = length < BATCH_BYTES ? length : BATCH_BYTES;
        size_t blocks = COUNTER_BATCH == 1 ? 1 : (bytes + BLOCK - 1) / BLOCK;
        block_cipher_encrypt(cipher, stream, counters, blocks);
        crypto_xor(out, in, stream, bytes);
        if (length == bytes) {
            __builtin_memcpy(counter, counters + (blocks - 1) * BLOCK, BLOCK);
            counter_add(counter, counting, 1, kind);
            break;
        }
        out += bytes;
        in += bytes;
        length -= bytes;
        for (uint8_t *block = counters; block < counters + BATCH_BYTES; block += BLOCK)
            counter_add(block, counting, COUNTER_BATCH, kind);
    }
    crypto_wipe(stream, sizeof stream);
    if (kind == COUNTER_SECRET)
        crypto_wipe(counters, sizeof counters);
}

#endif
