#include "check.h"

#include "crypto.h"
#include "sha256.h"
#include "verify.h"

enum { VECTORS_BYTES = 8 /* what a start needs of an image: stack pointer and entry */ };

int update_check_manifest(const suit_manifest *m, const update_place *place) {
    uint8_t hash[SUIT_DIGEST_BYTES], message[SUIT_SIGNED_BYTES_MAX];
    sha256_ctx ctx;
    const suit_signature *signature = &m->signature[0];
    const uint8_t *class = place->identity + SUIT_UUID_BYTES;
    if (m->signatures != 1 || signature->algorithm != UPDATE_ALGORITHM ||
        m->component.length != 1 || m->component.at[0] != place->slot ||
        m->image_bytes < VECTORS_BYTES || m->image_bytes > place->room ||
        !crypto_equal(m->vendor, place->identity, SUIT_UUID_BYTES) ||
        !crypto_equal(m->class, class, SUIT_UUID_BYTES))
        return 0;
    sha256_init(&ctx);
    sha256_update(&ctx, m->manifest.at, m->manifest.length);
    sha256_final(&ctx, hash);
    if (!crypto_equal(hash, m->digest_is, sizeof hash))
        return 0;
    size_t length = suit_signed(message, m, signature);
    return update_verify(signature->signature.at, signature->signature.length,
                         class + SUIT_UUID_BYTES, message, length);
}
