/* The stream of a block cipher that encrypts a counter, for CTR and for what is built on it. */
#ifndef COUNTER_H
#define COUNTER_H

#include "crypto.h"
#include "over.h"

/* Blocks given to the cipher at once: one that works on several together can, and what a call costs
   is shared. No cipher for a 16-bit core works so, and RAM is scarcer there. */
enum { COUNTER_BATCH = sizeof(size_t) > 2 ? 4 : 1 };

/* Adds to the big-endian number in the block's last `counting` bytes. A counter is public: to stop
   at the first byte without a carry leaks nothing. */
static inline void counter_add(uint8_t *counter, size_t counting, unsigned n) {
    uint8_t *byte = counter + BLOCK_CIPHER_BLOCK_BYTES - 1;
    unsigned sum = *byte + n;
    *byte = (uint8_t)sum;
    while (sum > 0xff && --counting > 0) {
        sum = *--byte + 1u;
        *byte = (uint8_t)sum;
    }
}

/* out = in XOR the stream that begins with the block `counter`, which is left one past the last
   that was used. */
static void counter_encrypt(const block_cipher_ctx *cipher, uint8_t *counter, size_t counting,
                            uint8_t *out, const uint8_t *in, size_t length) {
    enum { BLOCK = BLOCK_CIPHER_BLOCK_BYTES, BATCH_BYTES = COUNTER_BATCH * BLOCK };
    uint8_t counters[BATCH_BYTES], stream[BATCH_BYTES];
    if (length == 0)
        return;
    for (uint8_t *block = counters; block < counters + BATCH_BYTES; block += BLOCK) {
        __builtin_memcpy(block, counter, BLOCK);
        counter_add(counter, counting, 1);
    }
    for (;;) {
        size_t bytes = length < BATCH_BYTES ? length : BATCH_BYTES;
        size_t blocks = COUNTER_BATCH == 1 ? 1 : (bytes + BLOCK - 1) / BLOCK;
        block_cipher_encrypt(cipher, stream, counters, blocks);
        crypto_xor(out, in, stream, bytes);
        if (length == bytes) {
            __builtin_memcpy(counter, counters + (blocks - 1) * BLOCK, BLOCK);
            counter_add(counter, counting, 1);
            break;
        }
        out += bytes;
        in += bytes;
        length -= bytes;
        for (uint8_t *block = counters; block < counters + BATCH_BYTES; block += BLOCK)
            counter_add(block, counting, COUNTER_BATCH);
    }
    crypto_wipe(stream, sizeof stream);
}

#endif
