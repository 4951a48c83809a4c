#include "aead/xoodyak/xoodyak.h"

/* Crypt of whole blocks, in xoodoo.S; decryption of no blocks is Xoodoo[12]. */
void xoodyak_encrypt_blocks(uint8_t state[XOODYAK_STATE_BYTES], uint8_t *out, const uint8_t *in,
                            size_t blocks);
void xoodyak_decrypt_blocks(uint8_t state[XOODYAK_STATE_BYTES], uint8_t *out, const uint8_t *in,
                            size_t blocks);

static void xoodoo(uint8_t state[XOODYAK_STATE_BYTES]) {
    xoodyak_decrypt_blocks(state, 0, 0, 0);
}

#define XOODYAK_CRYPT_BLOCKS
static void crypt_blocks(uint8_t *state, uint8_t *out, const uint8_t *in, size_t blocks,
                         int decrypting) {
    if (blocks > 0)
        (decrypting ? xoodyak_decrypt_blocks : xoodyak_encrypt_blocks)(state, out, in, blocks);
}

#include "aead/xoodyak/xoodyak-cyclist.h"
