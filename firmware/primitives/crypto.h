/* What every primitive shares: status codes, and the operations that must not leak or vanish. */
#ifndef CRYPTO_H
#define CRYPTO_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
    CRYPTO_OK = 0,
    CRYPTO_BAD_LENGTH = 1, /* a length that the primitive does not allow */
    CRYPTO_BAD_TAG = 2     /* authentication failed; nothing was released */
} crypto_status;

/* Returns 1 when the two buffers are equal, else 0, in a time that depends on length alone. */
static inline int crypto_equal(const uint8_t *a, const uint8_t *b, size_t length) {
    uint8_t difference = 0;
    for (size_t i = 0; i < length; i++)
        difference |= (uint8_t)(a[i] ^ b[i]);
    /* The barrier keeps a compiler from leaving the loop at the first difference. */
    __asm__ volatile("" : "+r"(difference));
    return (int)((unsigned)(difference - 1u) >> 8 & 1u);
}

/* All ones where bit is 1, zero where it is 0. The barrier hides that there are two cases only,
   which compilers would make a branch of. */
static inline unsigned crypto_mask(unsigned bit) {
    unsigned mask = 0u - bit;
    __asm__("" : "+r"(mask));
    return mask;
}

static inline uint32_t crypto_mask32(unsigned bit) {
    return (uint32_t)(int32_t)(int)crypto_mask(bit);
}

/* Overwrites a buffer that held secrets; the stores are not optimised away. */
static inline void crypto_wipe(void *buffer, size_t length) {
    uint8_t *p = buffer;
    for (size_t i = 0; i < length; i++)
        p[i] = 0;
    __asm__ volatile("" : : "r"(buffer) : "memory");
}

#endif
