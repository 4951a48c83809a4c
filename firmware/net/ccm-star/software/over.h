/* The block cipher under CCM*: the AES wired into the program. */
#ifndef OVER_H
#define OVER_H

#include "aes.h"

#define BLOCK_CIPHER_KEY_BYTES AES_KEY_BYTES
#define BLOCK_CIPHER_BLOCK_BYTES AES_BLOCK_BYTES
#define block_cipher_ctx aes_ctx
#define block_cipher_init aes_init
#define block_cipher_encrypt aes_encrypt

#endif
