/* AES of simulated chips: C for the C++ that drivers are compiled as. */
#ifndef ENGINE_H
#define ENGINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

void engine_aes(const uint8_t key[16], uint8_t *out, const uint8_t *in, size_t blocks);

/* CCM of RFC 3610 with L = 2. `tag` gets 16 bytes; only the first tag_bytes count. */
typedef struct {
    const uint8_t *key;   /* 16 bytes */
    const uint8_t *nonce; /* 13 bytes */
    const uint8_t *open;
    size_t open_bytes;
    uint8_t *text; /* encrypted or decrypted where it is */
    size_t bytes;
    size_t tag_bytes;
    uint8_t *tag;
} engine_message;

void engine_ccm(const engine_message *m, int forward);

/* As in crypto.h. */
int engine_equal(const uint8_t *a, const uint8_t *b, size_t length);
void engine_wipe(void *buffer, size_t length);

#ifdef __cplusplus
}
#endif

#endif
