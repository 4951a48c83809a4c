#include <stdint.h>
#include <string.h>

/* Keeps the compiler from turning the loops below into calls of memmove or memcmp. */
#ifdef __clang__
#define NOT_BUILTIN __attribute__((no_builtin))
#else
#define NOT_BUILTIN __attribute__((optimize("no-tree-loop-distribute-patterns")))
#endif

NOT_BUILTIN void *memmove(void *to, const void *from, size_t length) {
    uint8_t *out = to;
    const uint8_t *in = from;
    if ((uintptr_t)out - (uintptr_t)in < length) {
        while (length-- > 0)
            out[length] = in[length];
    } else {
        for (size_t i = 0; i < length; i++)
            out[i] = in[i];
    }
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
