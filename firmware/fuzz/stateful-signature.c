/* libFuzzer target for LMS and HSS: arbitrary public keys and signatures, of which none is right.
   Types are mostly valid and lengths near the right one, so that all parts are reached.

   Buffers are heap blocks of the exact size, so that AddressSanitizer sees every access beyond
   them. */
#include <stdlib.h>
#include <string.h>

#include "lms.h"

enum { HEAD = 5 };

/* Puts a number of 4 bytes where there is room for one. */
static void put(uint8_t *to, size_t at, size_t size, uint8_t number) {
    if (at <= size && size - at >= 4) {
        memset(to + at, 0, 3);
        to[at + 3] = number;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size < HEAD)
        return 0;
    uint8_t levels = data[0] % 10;
    uint8_t tree = data[1] < 240 ? 5 + data[1] % 10 : data[1];
    uint8_t chains = data[2] < 240 ? 1 + data[2] % 8 : data[2];
    size_t skipped = LMS_IS_HSS ? 4 : 0;
    size_t length = ((size_t)data[3] << 8 | data[4]) % (2 * LMS_SIGNATURE_BYTES);
    if (data[0] < 128) /* as long as it should be, or a little more or less */
        length = LMS_SIGNATURE_BYTES + data[4] % 64 - (data[3] < 128 ? data[4] % 64 : 16);
    uint8_t *key = malloc(LMS_PUBLIC_BYTES), *signature = malloc(length + !length);
    uint8_t *message = malloc(1);
    if (key == NULL || signature == NULL || message == NULL)
        abort();
    for (size_t i = 0; i < LMS_PUBLIC_BYTES; i++)
        key[i] = data[i % size];
    for (size_t i = 0; i < length; i++)
        signature[i] = data[i % size];
    message[0] = data[3];
    if (LMS_IS_HSS) {
        put(key, 0, LMS_PUBLIC_BYTES, levels);
        put(signature, 0, length, (uint8_t)(levels - 1));
    }
    put(key, skipped, LMS_PUBLIC_BYTES, tree);
    put(key, skipped + 4, LMS_PUBLIC_BYTES, chains);
    put(signature, skipped, length, data[3] % 32);
    put(signature, skipped + 4, length, chains);
    /* The tree's type, before the path (RFC 8554, section 5.4), and the next level's public key
       behind that, of the same types. */
    size_t n = tree > 9 ? 24 : 32, path = n * 5 * ((tree - 5u) % 5 + 1), w = (chains - 1u) % 4;
    size_t digits = (8 * n >> w) + (w == 0 ? 9 - (n == 24) : w == 1 ? 5 : 5 - w);
    size_t next = skipped + 8 + n * (1 + digits) + 4 + path;
    put(signature, length - path - 4, length, tree);
    put(signature, next - path - 4, length, tree);
    put(signature, next, length, tree);
    put(signature, next + 4, length, chains);
    if (lms_verify(signature, length, key, message, 1) != CRYPTO_BAD_TAG)
        abort();
    free(key), free(signature), free(message);
    return 0;
}
