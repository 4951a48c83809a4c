/* What the modes of TI's AES accelerator need of it (SWRU319, chapter AES and SHA Cryptoprocessor;
   SWCU117, chapter Cryptography). Registers are called as in CC26x0 chips. */
#ifndef AES_TI_ENGINE_USE_H
#define AES_TI_ENGINE_USE_H

#include "aes.h"
#include "ti-aes-registers.h"

/* CRYPTO_ALGSEL, CRYPTO_IRQ*, CRYPTO_AESCTL. */
enum { AES_TI_KEY_STORE = 1, AES_TI_ENGINE = 2 };
enum { AES_TI_RESULT_AV = 1, AES_TI_DMA_IN_DONE = 2 };
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
/* A DMA channel counts 16 bits of bytes. */
enum { AES_TI_BYTES_MAX = 0xffff };

/* Selects the engine and gives it a context's key. Who has called it writes 0 to CRYPTO_ALGSEL in
   the end. */
void aes_ti_use(const aes_ctx *ctx);

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

/* Waits for an event, and clears it and those in `with`. */
static inline void aes_ti_wait(uint32_t event, uint32_t with) {
    while ((CRYPTO_IRQSTAT & event) == 0)
        continue;
    CRYPTO_IRQCLR = event | with;
}

#endif
