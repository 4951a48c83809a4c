#ifndef ECDH_SECT233R1_H
#define ECDH_SECT233R1_H

#include "key-agreement.h"

enum {
    ECDH_SECT233R1_SECRET_BYTES = 29,
    ECDH_SECT233R1_PUBLIC_BYTES = 2 * 30,
    ECDH_SECT233R1_SHARED_BYTES = 30
};

typedef struct {
    char unused; /* all working data is on the stack */
} ecdh_sect233r1_ctx;

crypto_status ecdh_sect233r1_keygen(uint8_t *public_key, const uint8_t *secret_key);
crypto_status ecdh_sect233r1_agree(uint8_t *shared, const uint8_t *secret_key,
                                   const uint8_t *peer_key);

#endif
