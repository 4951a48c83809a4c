/* The AES accelerator of the CC2538 and of CC26x0 chips (SWRU319, chapter AES and SHA
   Cryptoprocessor; SWCU117, chapter Cryptography): the part shared by the radio's driver for it and
   the primitives. Registers have the names that CC26x0 chips use. */
#ifndef TI_AES_H
#define TI_AES_H

#include <stdint.h>

#include "ti-aes-registers.h"

/* CRYPTO_ALGSEL. */
enum { AES_TI_KEY_STORE = 1, AES_TI_ENGINE = 2 };
/* CRYPTO_IRQ*. */
enum { AES_TI_RESULT_AV = 1, AES_TI_DMA_IN_DONE = 2 };
/* CRYPTO_AESCTL. */
enum {
    AES_TI_SAVED_CONTEXT_READY = 1 << 30,
    AES_TI_SAVE_CONTEXT = 1 << 29,
    AES_TI_CCM_M = 22,
    AES_TI_CCM_L = 19,
    AES_TI_CCM = 1 << 18,
    AES_TI_CTR_WIDTH_128 = 3 << 7,
    AES_TI_CTR = 1 << 6,
    AES_TI_DECRYPT = 0,
    AES_TI_ENCRYPT = 1 << 2
};
/* A DMA channel has a 16-bit byte count. */
enum { AES_TI_BYTES_MAX = 0xffff };

/* Starts a DMA channel: this one reads from memory, aes_ti_store writes to it. */
static inline void aes_ti_fetch(const void *data, uint32_t bytes) {
    CRYPTO_DMACH0CTL = 1;
    CRYPTO_DMACH0EXTADDR = (uint32_t)(uintptr_t)data;
    CRYPTO_DMACH0LEN = bytes;
}

static inline void aes_ti_store(void *data, uint32_t bytes) {
    CRYPTO_DMACH1CTL = 1;
    CRYPTO_DMACH1EXTADDR = (uint32_t)(uintptr_t)data;
    CRYPTO_DMACH1LEN = bytes;
}

#endif
