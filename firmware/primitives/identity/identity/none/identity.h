/* The identity kind has one primitive. */
#ifndef IDENTITY_H
#define IDENTITY_H

typedef struct {
    char unused;
} identity_ctx;

void identity_nothing(const identity_ctx *ctx);

#endif
