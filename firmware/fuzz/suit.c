/* libFuzzer target for manifests. Whatever is decoded lies within the input, which is a heap block
   of the exact size, so that AddressSanitizer sees every access beyond it. */
#include <stdlib.h>
#include <string.h>

#include "suit.h"

static void require(int condition) {
    if (!condition)
        abort();
}

static void within(const uint8_t *input, size_t size, const uint8_t *at, size_t length) {
    require(at >= input && length <= size && (size_t)(at - input) <= size - length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t *input = malloc(size + !size), message[SUIT_SIGNED_BYTES_MAX];
    suit_manifest m;
    require(input != NULL);
    memcpy(input, data, size);
    size_t length = suit_decode(&m, input, size);
    require(length <= size);
    if (length != 0) {
        within(input, length, m.manifest.at, m.manifest.length);
        within(input, length, m.digest.at, m.digest.length);
        within(input, length, m.digest_is, SUIT_DIGEST_BYTES);
        within(input, length, m.component.at, m.component.length);
        within(input, length, m.vendor, SUIT_UUID_BYTES);
        within(input, length, m.class, SUIT_UUID_BYTES);
        within(input, length, m.image_digest, SUIT_DIGEST_BYTES);
        require(m.signatures >= 1 && m.signatures <= SUIT_SIGNATURES_MAX);
        for (unsigned i = 0; i < m.signatures; i++) {
            const suit_signature *s = &m.signature[i];
            within(input, length, s->protected_header.at, s->protected_header.length);
            within(input, length, s->signature.at, s->signature.length);
            require(suit_signed(message, &m, s) <= sizeof message);
        }
        /* One byte less is no manifest. */
        require(suit_decode(&m, input, length - 1) == 0);
    }
    free(input);
    return 0;
}
