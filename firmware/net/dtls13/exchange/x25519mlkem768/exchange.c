#include "exchange.h"

crypto_status exchange_offer(uint8_t *offer, const uint8_t *secret) {
    uint8_t private_key[MLKEM_PRIVATE_BYTES];
    crypto_status status = mlkem_keygen(offer, private_key, secret);
    crypto_wipe(private_key, sizeof private_key);
    if (status != CRYPTO_OK)
        return status;
    return x25519_keygen(offer + MLKEM_PUBLIC_BYTES, secret + MLKEM_SEED_BYTES);
}

crypto_status exchange_answer(uint8_t *answer, uint8_t *shared, const uint8_t *secret,
                              const uint8_t *offer) {
    const uint8_t *scalar = secret + MLKEM_SEED_BYTES;
    crypto_status status = mlkem_encapsulate(answer, shared, offer, secret);
    if (status == CRYPTO_OK)
        status = x25519_keygen(answer + MLKEM_CIPHERTEXT_BYTES, scalar);
    if (status == CRYPTO_OK)
        status = x25519_agree(shared + MLKEM_SHARED_BYTES, scalar, offer + MLKEM_PUBLIC_BYTES);
    return status;
}

crypto_status exchange_finish(uint8_t *shared, const uint8_t *secret, const uint8_t *answer) {
    uint8_t public_key[MLKEM_PUBLIC_BYTES], private_key[MLKEM_PRIVATE_BYTES];
    crypto_status status = mlkem_keygen(public_key, private_key, secret);
    if (status == CRYPTO_OK)
        status = mlkem_decapsulate(shared, answer, private_key);
    crypto_wipe(private_key, sizeof private_key);
    if (status != CRYPTO_OK)
        return status;
    return x25519_agree(shared + MLKEM_SHARED_BYTES, secret + MLKEM_SEED_BYTES,
                        answer + MLKEM_CIPHERTEXT_BYTES);
}
