#include "check.h"

#include "crypto.h"
#include "sha256.h"
#include "verify.h"

enum { VECTORS_BYTES = 8 /* what a start needs of an image: stack pointer and entry */ };

/* The second algorithm is 0 if one signature is enough; otherwise both have to be valid. */
enum { SIGNATURES = UPDATE_SECOND_ALGORITHM == 0 ? 1 : 2 };

int update_check_manifest(const suit_manifest *m, const update_place *place) {
    static const int32_t algorithms[] = {UPDATE_ALGORITHM, UPDATE_SECOND_ALGORITHM};
    uint8_t hash[SUIT_DIGEST_BYTES], message[SUIT_SIGNED_BYTES_MAX];
    sha256_ctx ctx;
    const uint8_t *class = place->identity + SUIT_UUID_BYTES;
    if (m->signatures != SIGNATURES || m->component.length != 1 ||
        m->component.at[0] != place->slot || m->image_bytes < VECTORS_BYTES ||
        m->image_bytes > place->room ||
        !crypto_equal(m->vendor, place->identity, SUIT_UUID_BYTES) ||
        !crypto_equal(m->class, class, SUIT_UUID_BYTES))
        return 0;
    sha256_init(&ctx);
    sha256_update(&ctx, m->manifest.at, m->manifest.length);
    sha256_final(&ctx, hash);
    if (!crypto_equal(hash, m->digest_is, sizeof hash))
        return 0;
    for (unsigned i = 0; i < SIGNATURES; i++) {
        const suit_signature *signature = &m->signature[i];
        update_signed what = {message, suit_signed(message, m, signature), class + SUIT_UUID_BYTES};
        if (signature->algorithm != algorithms[i] ||
            !update_verify(i, signature->signature.at, signature->signature.length, &what))
            return 0;
    }
    return 1;
}
