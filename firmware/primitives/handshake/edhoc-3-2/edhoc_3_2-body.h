#include "edhoc_3_2.h"

#include "ecdh_p256.h"

/* EDHOC sends only X (RFC 9528, section 3.7). */
static crypto_status keygen_x(uint8_t x[32], const uint8_t *secret_key) {
    uint8_t both[ECDH_P256_PUBLIC_BYTES];
    crypto_status status = ecdh_p256_keygen(both, secret_key);
    for (unsigned i = 0; i < 32 && status == CRYPTO_OK; i++)
        x[i] = both[i];
    return status;
}

#define EDHOC(name) edhoc_3_2_##name
#define EDHOC_METHOD 3
#define EDHOC_SUITE 2
#define EDHOC_KEYGEN keygen_x
#define EDHOC_AGREE ecdh_p256_agree_x
#include "handshake/edhoc-core.h"
