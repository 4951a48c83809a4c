/* A secret that both sides have: RFC 8613, appendix C.1. It is published and protects nothing. */
#ifndef KEYS_H
#define KEYS_H

#include "oscore.h"

static inline bool derive_keys(oscore_ctx *ctx, bool is_client) {
    static const uint8_t secret[OSCORE_KEY_BYTES] = {1, 2,  3,  4,  5,  6,  7,  8,
                                                     9, 10, 11, 12, 13, 14, 15, 16};
    static const uint8_t salt[] = {0x9e, 0x7c, 0xa9, 0x22, 0x23, 0x78, 0x63, 0x40};
    static const oscore_id client = {0, {0}}, server = {1, {1}};
    oscore_init(ctx, secret, salt, sizeof salt, is_client ? &client : &server,
                is_client ? &server : &client, NULL);
    return true;
}

#endif
