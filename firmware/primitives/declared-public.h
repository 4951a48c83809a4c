/* Declares what is public although it is derived from a secret: the seed of a matrix, whether a
   candidate is rejected. */
#ifndef DECLARED_PUBLIC_H
#define DECLARED_PUBLIC_H

#include <stddef.h>
#include <stdint.h>

/* From here on the value at this place may be known: what depends on it and on nothing else that is
   secret is no leak. `joulemark leaks` shows each declaration that a run came by, and gives the
   value of the first trial in all others, so that whatever else depends on a secret still shows.
   It does nothing and costs a call. One definition remains in an image. */
__attribute__((weak, noinline)) void crypto_public(void *value, size_t length) {
    __asm__ volatile("" : : "r"(value), "r"(length) : "memory");
}

#endif
