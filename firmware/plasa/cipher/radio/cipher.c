#include "cipher.h"

#include "radio.h"

#if !RADIO_HAS_AES
#error "this radio has no AES of its own: wire cipher to plasa/cipher/software"
#endif

void cipher_block(const uint8_t key[16], uint8_t out[16], const uint8_t in[16]) {
    radio_aes(key, out, in, 1);
}
