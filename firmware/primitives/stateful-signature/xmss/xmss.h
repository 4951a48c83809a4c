/* XMSS (RFC 8391) with SHA-256, whole or cut to 192 bits (SP 800-208, section 5). */
#ifndef XMSS_H
#define XMSS_H

#include "stateful-signature.h"

enum {
    XMSS_CHAINS = 2 * XMSS_N + 3, /* of a one-time signature, W = 16 (section 3.1.1) */
    XMSS_PUBLIC_BYTES = 4 + 2 * XMSS_N,
    XMSS_SIGNATURE_BYTES = 4 + XMSS_N * (1 + XMSS_CHAINS + XMSS_HEIGHT)
};

typedef struct {
    char unused; /* all working data is on the stack */
} xmss_ctx;

/* Verifies a signature (section 4.1.10) by a key of a tree of XMSS_HEIGHT, as its type has to say.
 */
crypto_status xmss_verify(const uint8_t *signature, size_t signature_length,
                          const uint8_t *public_key, const uint8_t *message, size_t length);

#endif
