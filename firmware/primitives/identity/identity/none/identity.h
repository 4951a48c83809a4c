/* The identity kind's only primitive. */
#ifndef IDENTITY_H
#define IDENTITY_H

typedef struct {
    char unused;
} identity_ctx;

void identity_nothing(const identity_ctx *ctx);

#endif
