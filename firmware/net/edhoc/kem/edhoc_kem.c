#include "edhoc_kem.h"

#include "mldsa.h"
#include "mlkem.h"

/* Signatures by the deterministic variant (FIPS 204, section 3.4), so that each byte on air can be
   checked. */
static const uint8_t NO_RANDOMNESS[MLDSA_SEED_BYTES];

/* The initiator keeps the seed of its key pair, and makes the pair again for the answer. */
static crypto_status offer(uint8_t *g_x, const uint8_t *secret) {
    uint8_t private_key[MLKEM_PRIVATE_BYTES];
    crypto_status status = mlkem_keygen(g_x, private_key, secret);
    crypto_wipe(private_key, sizeof private_key);
    return status;
}

static crypto_status finish_exchange(uint8_t *shared, const uint8_t *g_y, const uint8_t *secret) {
    uint8_t public_key[MLKEM_PUBLIC_BYTES], private_key[MLKEM_PRIVATE_BYTES];
    crypto_status status = mlkem_keygen(public_key, private_key, secret);
    if (status == CRYPTO_OK)
        status = mlkem_decapsulate(shared, g_y, private_key);
    crypto_wipe(private_key, sizeof private_key);
    return status;
}

static crypto_status share(uint8_t *shared, const uint8_t *g_y, const uint8_t *secret,
                           const uint8_t *peer) {
    return peer == g_y ? finish_exchange(shared, g_y, secret)
                       : mlkem_encapsulate((uint8_t *)g_y, shared, peer, secret);
}

#define EDHOC(name) edhoc_kem_##name
#define EDHOC_METHOD 0
#define EDHOC_SUITE 0x34 /* -21 */
#define EDHOC_OFFER_BYTES MLKEM_PUBLIC_BYTES
#define EDHOC_ANSWER_BYTES MLKEM_CIPHERTEXT_BYTES
#define EDHOC_PROOF_BYTES MLDSA_SIGNATURE_BYTES
#define EDHOC_TAG_BYTES 16
#define EDHOC_SIGNED_BYTES 1600
#define EDHOC_KMAC
#define EDHOC_KEYGEN offer
#define EDHOC_KEYGEN_Y(g_y, secret) CRYPTO_OK
#define EDHOC_SHARE share
#define EDHOC_SIGN(signature, key, public_key, seed, message, length)                              \
    mldsa_sign(signature, key, public_key, NO_RANDOMNESS, message, length)
#define EDHOC_VERIFY mldsa_verify
#include "handshake/edhoc-core.h"
