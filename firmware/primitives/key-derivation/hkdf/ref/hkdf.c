#include "hkdf.h"

/* RFC 5869, section 2.2. A missing salt is a string of zeros, which equals HMAC's padding of an
   empty key. */
void hkdf_extract(uint8_t *prk, const uint8_t *salt, size_t salt_length, const uint8_t *secret,
                  size_t length) {
    hmac_ctx mac;
    hmac_init(&mac, salt, salt_length);
    hmac_update(&mac, secret, length);
    hmac_final(&mac, prk);
}

/* Section 2.3. */
crypto_status hkdf_expand(uint8_t *out, size_t out_length, const uint8_t *prk, const uint8_t *info,
                          size_t length) {
    hmac_ctx keyed, mac;
    uint8_t block[HASH_DIGEST_BYTES], number = 0;
    if (out_length > 255u * HASH_DIGEST_BYTES)
        return CRYPTO_BAD_LENGTH;
    hmac_init(&keyed, prk, HASH_DIGEST_BYTES);
    while (out_length > 0) {
        size_t some = out_length < sizeof block ? out_length : sizeof block;
        mac = keyed;
        if (number++)
            hmac_update(&mac, block, sizeof block);
        hmac_update(&mac, info, length);
        hmac_update(&mac, &number, 1);
        hmac_final(&mac, block);
        for (size_t i = 0; i < some; i++)
            *out++ = block[i];
        out_length -= some;
    }
    crypto_wipe(&keyed, sizeof keyed);
    crypto_wipe(block, sizeof block);
    return CRYPTO_OK;
}
