/* The interface to TI's AES accelerator for the modes on it (SWRU319, chapter AES and SHA
   Cryptoprocessor; SWCU117, chapter Cryptography). */
#ifndef AES_TI_ENGINE_USE_H
#define AES_TI_ENGINE_USE_H

#include "aes.h"
#include "ti-aes.h"

/* Selects the engine and gives it a context's key. The caller must write 0 to CRYPTO_ALGSEL when
   done. */
void aes_ti_use(const aes_ctx *ctx);

/* Waits for an event; clears it and the events in `with`. */
static inline void aes_ti_wait(uint32_t event, uint32_t with) {
    while ((CRYPTO_IRQSTAT & event) == 0)
        continue;
    CRYPTO_IRQCLR = event | with;
}

#endif
