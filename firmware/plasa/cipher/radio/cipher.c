#include "cipher.h"

#include "radio.h"

#if !RADIO_HAS_AES
#error "radio has no AES: --wire cipher=plasa/cipher/software --wire ccm-star=net/ccm-star/software"
#endif

void cipher_block(const uint8_t key[16], uint8_t out[16], const uint8_t in[16]) {
    radio_aes(key, out, in, 1);
}
