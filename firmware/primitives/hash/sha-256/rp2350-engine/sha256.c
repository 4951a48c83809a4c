#include "chip.h"
#include "declared-public.h"
#include "sha256-body.h"

/* RESETS. */
enum { RESET_SHA256 = 1 << 17 };
/* SHA256_CSR. */
enum { BSWAP = 1 << 12, WORDS = 2 << 8, SUM_VLD = 1 << 2, START = 1 };

void sha256_compress_software(uint32_t state[8], const uint8_t *data, size_t blocks);

/* The state that the accelerator has, once it is started. */
static uint32_t held[8];
static uint8_t is_started;

/* That is known from the program: which of its hashes goes on. */
static uint32_t is_other(const uint32_t a[8], const uint32_t b[8]) {
    uint32_t differ = 0;
    for (unsigned i = 0; i < 8; i++)
        differ |= a[i] ^ b[i];
    uint32_t other = differ != 0;
    crypto_public(&other, sizeof other);
    return other;
}

static void start(void) {
    RESETS_RESET &= ~(uint32_t)RESET_SHA256;
    while ((RESETS_RESET_DONE & RESET_SHA256) == 0)
        continue;
    SHA256_CSR = BSWAP | WORDS | START;
    is_started = 1;
}

static void put(const uint8_t *data) {
    if ((uintptr_t)data % 4 == 0) {
        const uint32_t *words = __builtin_assume_aligned(data, 4);
        for (unsigned i = 0; i < SHA256_BLOCK_BYTES / 4; i++)
            SHA256_WDATA = words[i];
    } else {
        for (unsigned i = 0; i < SHA256_BLOCK_BYTES; i += 4)
            SHA256_WDATA = data[i] | (uint32_t)data[i + 1] << 8 | (uint32_t)data[i + 2] << 16 |
                           (uint32_t)data[i + 3] << 24;
    }
}

void sha256_compress(uint32_t state[8], const uint8_t *data, size_t blocks) {
    volatile uint32_t *sum = &SHA256_SUM0;
    if (!is_other(state, initial)) {
        start();
    } else if (!is_started || is_other(state, held)) {
        sha256_compress_software(state, data, blocks);
        return;
    }
    for (; blocks > 0; blocks--, data += SHA256_BLOCK_BYTES) {
        put(data);
        while ((SHA256_CSR & SUM_VLD) == 0)
            continue;
    }
    for (unsigned i = 0; i < 8; i++)
        state[i] = held[i] = sum[i];
}
