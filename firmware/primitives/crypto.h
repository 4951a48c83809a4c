/* Shared by all primitives: status codes, and operations that must run in constant time or must not
   be optimised away. */
#ifndef CRYPTO_H
#define CRYPTO_H

#include <stddef.h>
#include <stdint.h>

typedef enum {
    CRYPTO_OK = 0,
    CRYPTO_BAD_LENGTH = 1, /* a length that the primitive does not allow */
    CRYPTO_BAD_TAG = 2     /* authentication failed; nothing was released */
} crypto_status;

/* Returns 1 if the two buffers are equal, else 0, in a time that depends only on length. */
static inline int crypto_equal(const uint8_t *a, const uint8_t *b, size_t length) {
    uint8_t difference = 0;
    for (size_t i = 0; i < length; i++)
        difference |= (uint8_t)(a[i] ^ b[i]);
    /* The barrier keeps a compiler from leaving the loop at the first difference. */
    __asm__ volatile("" : "+r"(difference));
    return (int)((unsigned)(difference - 1u) >> 8 & 1u);
}

/* Returns all ones if bit is 1, zero if it is 0. The barrier hides that only two values are
   possible, which compilers would turn into a branch. */
static inline unsigned crypto_mask(unsigned bit) {
    unsigned mask = 0u - bit;
    __asm__("" : "+r"(mask));
    return mask;
}

static inline uint32_t crypto_mask32(unsigned bit) {
    return (uint32_t)(int32_t)(int)crypto_mask(bit);
}

/* Returns 1 if a number below 2^15 is not 0, else 0. The barrier hides the bound, which compilers
   would turn into a compare and a jump. */
static inline unsigned crypto_not_zero(unsigned number) {
    __asm__("" : "+r"(number));
    return (0u - number) >> (8 * sizeof number - 1);
}

/* Returns a + b modulo 2^64. For the plain sum, compilers for the MSP430 compute the carries
   between words with compares and jumps. */
static inline uint64_t crypto_add64(uint64_t a, uint64_t b) {
#ifdef __MSP430__
    uint16_t w0 = (uint16_t)a, w1 = (uint16_t)(a >> 16);
    uint16_t w2 = (uint16_t)(a >> 32), w3 = (uint16_t)(a >> 48);
    __asm__("add %4, %0\n\taddc %5, %1\n\taddc %6, %2\n\taddc %7, %3"
            : "+&r"(w0), "+&r"(w1), "+&r"(w2), "+&r"(w3)
            : "r"((uint16_t)b), "r"((uint16_t)(b >> 16)), "r"((uint16_t)(b >> 32)),
              "r"((uint16_t)(b >> 48))
            : "cc");
    return (uint64_t)((uint32_t)w3 << 16 | w2) << 32 | ((uint32_t)w1 << 16 | w0);
#else
    return a + b;
#endif
}

#ifdef __ARM_FEATURE_UNALIGNED
static inline uint32_t crypto_load_word(const uint8_t *from) {
    uint32_t word;
    __builtin_memcpy(&word, from, sizeof word);
    return word;
}

static inline void crypto_store_word(uint8_t *to, uint32_t word) {
    __builtin_memcpy(to, &word, sizeof word);
}
#elif defined __riscv
typedef uint32_t __attribute__((may_alias)) crypto_word;

/* The core takes words only from addresses that are multiples of 4. Which addresses these are is
   public. */
static inline uint32_t crypto_load_word(const uint8_t *from) {
    if (((uintptr_t)from & 3) == 0)
        return *(const crypto_word *)from;
    return (uint32_t)from[3] << 24 | (uint32_t)from[2] << 16 | (uint32_t)from[1] << 8 | from[0];
}

static inline void crypto_store_word(uint8_t *to, uint32_t word) {
    if (((uintptr_t)to & 3) == 0) {
        *(crypto_word *)to = word;
        return;
    }
    for (unsigned i = 0; i < 4; i++, word >>= 8)
        to[i] = (uint8_t)word;
}
#endif

/* out = a XOR b, where out may be a or b. Works by words where the core supports them at these
   addresses. On ARM the loads are grouped, because a load that follows another takes one cycle
   less. */
#ifdef __OPTIMIZE_SIZE__
__attribute__((noinline, unused)) static
#else
static inline
#endif
    void
    crypto_xor(uint8_t *out, const uint8_t *a, const uint8_t *b, size_t length) {
#ifdef __ARM_FEATURE_UNALIGNED
    for (; length >= 16; length -= 16, out += 16, a += 16, b += 16) {
        uint32_t w = crypto_load_word(a), x = crypto_load_word(a + 4);
        uint32_t y = crypto_load_word(a + 8), z = crypto_load_word(a + 12);
        uint32_t s = crypto_load_word(b), t = crypto_load_word(b + 4);
        uint32_t u = crypto_load_word(b + 8), v = crypto_load_word(b + 12);
#ifdef __OPTIMIZE__ /* otherwise there are too few registers */
        __asm__("" : "+r"(s), "+r"(t), "+r"(u), "+r"(v), "+r"(w), "+r"(x), "+r"(y), "+r"(z));
#endif
        crypto_store_word(out, w ^ s), crypto_store_word(out + 4, x ^ t);
        crypto_store_word(out + 8, y ^ u), crypto_store_word(out + 12, z ^ v);
    }
    for (; length >= 4; length -= 4, out += 4, a += 4, b += 4)
        crypto_store_word(out, crypto_load_word(a) ^ crypto_load_word(b));
#elif SIZE_MAX == 0xffff
    typedef uint16_t __attribute__((may_alias)) word;
    if ((((uintptr_t)out | (uintptr_t)a | (uintptr_t)b) & 1) == 0)
        for (; length >= 2; length -= 2, out += 2, a += 2, b += 2)
            *(word *)out = *(const word *)a ^ *(const word *)b;
#elif defined __riscv
    if ((((uintptr_t)out | (uintptr_t)a | (uintptr_t)b) & 3) == 0)
        for (; length >= 4; length -= 4, out += 4, a += 4, b += 4)
            *(crypto_word *)out = *(const crypto_word *)a ^ *(const crypto_word *)b;
#endif
    for (size_t i = 0; i < length; i++)
        out[i] = (uint8_t)(a[i] ^ b[i]);
}

/* Overwrites a buffer that held secrets, with stores that are not optimised away. */
static inline void crypto_wipe(void *buffer, size_t length) {
    uint8_t *p = buffer;
#ifdef __ARM_FEATURE_UNALIGNED
    for (; length >= 4; length -= 4, p += 4)
        crypto_store_word(p, 0);
#elif defined __riscv
    if (((uintptr_t)p & 3) == 0)
        for (; length >= 4; length -= 4, p += 4)
            *(volatile crypto_word *)p = 0;
#endif
    for (; length > 0; length--)
        *p++ = 0;
    __asm__ volatile("" : : "r"(buffer) : "memory");
}

/* The same for a few words of a context, in place. Compilers turn the loop above into a call of
   memset, which takes longer than a few stores; here they do not know that they store 0. */
static inline void crypto_wipe_words(void *words, size_t count) {
#ifdef __ARM_FEATURE_UNALIGNED
    uint32_t zero = 0;
    __asm__("" : "+r"(zero));
    for (size_t i = 0; i < count; i++)
        crypto_store_word((uint8_t *)words + 4 * i, zero);
    __asm__ volatile("" : : "r"(words) : "memory");
#else
    crypto_wipe(words, 4 * count);
#endif
}

/* A function that handles secrets leaves some in the stack frames of the functions it calls. To
   wipe them, its caller calls it without inlining and then calls a function with a frame of
   `bytes`, the depth of those frames, which lies in the same place and is overwritten. */
#define CRYPTO_NOT_INLINE __attribute__((noinline))
#define CRYPTO_WIPE_FRAMES(name, bytes)                                                            \
    CRYPTO_NOT_INLINE static void name(void) {                                                     \
        uint8_t frame[bytes];                                                                      \
        crypto_wipe(frame, sizeof frame);                                                          \
    }

#endif
