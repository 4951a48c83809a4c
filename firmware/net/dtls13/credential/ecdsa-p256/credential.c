#include "credential.h"

enum { NUMBER = 32, SEQUENCE = 0x30, INTEGER = 0x02 };

void credential_certificate(uint8_t *out, const uint8_t *public_key) {
    static const uint8_t prefix[CREDENTIAL_PREFIX_BYTES] = {
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06,
        0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04};
    for (unsigned i = 0; i < CREDENTIAL_PREFIX_BYTES; i++)
        out[i] = prefix[i];
    for (unsigned i = 0; i < ECDSA_P256_PUBLIC_BYTES; i++)
        out[CREDENTIAL_PREFIX_BYTES + i] = public_key[i];
}

/* Writes a number as a DER integer: without leading zeros but the one that keeps it positive. */
static uint8_t *write_integer(uint8_t *out, const uint8_t number[NUMBER]) {
    unsigned skip = 0;
    while (skip < NUMBER - 1 && number[skip] == 0)
        skip++;
    unsigned sign = number[skip] >> 7;
    *out++ = INTEGER;
    *out++ = (uint8_t)(NUMBER - skip + sign);
    if (sign)
        *out++ = 0;
    for (unsigned i = skip; i < NUMBER; i++)
        *out++ = number[i];
    return out;
}

/* Reads what write_integer writes; returns where it ends, or null if it is anything else. */
static const uint8_t *read_integer(const uint8_t *at, const uint8_t *end, uint8_t number[NUMBER]) {
    if (end - at < 3 || at[0] != INTEGER || at[1] == 0 || end - at - 2 < at[1])
        return NULL;
    unsigned length = at[1];
    at += 2;
    if ((at[0] & 0x80) || (at[0] == 0 && length > 1 && !(at[1] & 0x80)))
        return NULL;
    if (at[0] == 0 && length > 1) {
        at++;
        length--;
    }
    if (length > NUMBER)
        return NULL;
    for (unsigned i = 0; i < NUMBER; i++)
        number[i] = i < NUMBER - length ? 0 : *at++;
    return at;
}

size_t credential_sign(uint8_t *out, const uint8_t *secret_key, const uint8_t *public_key,
                       const uint8_t *seed, const uint8_t *message, size_t length) {
    uint8_t raw[ECDSA_P256_SIGNATURE_BYTES], *at = out + 2;
    if (ecdsa_p256_sign(raw, secret_key, public_key, seed, message, length) != CRYPTO_OK)
        return 0;
    at = write_integer(at, raw);
    at = write_integer(at, raw + NUMBER);
    out[0] = SEQUENCE;
    out[1] = (uint8_t)(at - out - 2);
    return (size_t)(at - out);
}

int credential_verify(const uint8_t *signature, size_t signature_length, const uint8_t *public_key,
                      const uint8_t *message, size_t length) {
    uint8_t raw[ECDSA_P256_SIGNATURE_BYTES];
    const uint8_t *at = signature + 2, *end = signature + signature_length;
    if (signature_length < 2 || signature[0] != SEQUENCE || signature[1] != signature_length - 2)
        return 0;
    at = read_integer(at, end, raw);
    at = at == NULL ? NULL : read_integer(at, end, raw + NUMBER);
    return at == end && ecdsa_p256_verify(raw, public_key, message, length) == CRYPTO_OK;
}
