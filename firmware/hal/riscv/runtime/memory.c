#include <stdint.h>
#include <string.h>

/* Keeps the compiler from turning the loops below into calls of the functions that they are in. */
#ifdef __clang__
#define NOT_BUILTIN __attribute__((no_builtin))
#else
#define NOT_BUILTIN __attribute__((optimize("no-tree-loop-distribute-patterns")))
#endif

typedef uint32_t __attribute__((may_alias)) word_t;

static inline int is_aligned(uintptr_t address) {
    return address % sizeof(word_t) == 0;
}

NOT_BUILTIN void *memcpy(void *restrict to, const void *restrict from, size_t length) {
    uint8_t *out = to;
    const uint8_t *in = from;
    if (is_aligned((uintptr_t)out | (uintptr_t)in)) {
        for (; length >= 4 * sizeof(word_t); length -= 4 * sizeof(word_t)) {
            word_t a = ((const word_t *)in)[0], b = ((const word_t *)in)[1];
            word_t c = ((const word_t *)in)[2], d = ((const word_t *)in)[3];
            ((word_t *)out)[0] = a;
            ((word_t *)out)[1] = b;
            ((word_t *)out)[2] = c;
            ((word_t *)out)[3] = d;
            in += 4 * sizeof(word_t);
            out += 4 * sizeof(word_t);
        }
        for (; length >= sizeof(word_t); length -= sizeof(word_t)) {
            *(word_t *)out = *(const word_t *)in;
            in += sizeof(word_t);
            out += sizeof(word_t);
        }
    }
    while (length-- > 0)
        *out++ = *in++;
    return to;
}

NOT_BUILTIN void *memmove(void *to, const void *from, size_t length) {
    uint8_t *out = to;
    const uint8_t *in = from;
    if ((uintptr_t)out - (uintptr_t)in >= length)
        return memcpy(to, from, length);
    while (length-- > 0)
        out[length] = in[length];
    return to;
}

NOT_BUILTIN void *memset(void *to, int value, size_t length) {
    uint8_t *out = to;
    for (; length > 0 && !is_aligned((uintptr_t)out); length--)
        *out++ = (uint8_t)value;
    word_t word = (uint8_t)value * 0x01010101ul;
    for (; length >= sizeof(word_t); length -= sizeof(word_t)) {
        *(word_t *)out = word;
        out += sizeof(word_t);
    }
    while (length-- > 0)
        *out++ = (uint8_t)value;
    return to;
}

NOT_BUILTIN int memcmp(const void *a, const void *b, size_t length) {
    const uint8_t *p = a, *q = b;
    for (; length > 0; length--, p++, q++) {
        if (*p != *q)
            return *p - *q;
    }
    return 0;
}
