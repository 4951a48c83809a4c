/* The identity of the identity kind: the build gives its sizes. */
#ifndef WIRED_IDENTITY_H
#define WIRED_IDENTITY_H

#include <stdint.h>

typedef struct {
    uint16_t unused;
} wired_ctx;

void wired_nothing(const wired_ctx *ctx);

#endif
