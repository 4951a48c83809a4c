/* GIFT-COFB over a GIFT-128 in assembly, with the round keys of the fixsliced version. */
#include "aead/gift-cofb/gift-cofb-words.h"

#include "aead/gift-cofb/gift-cofb-schedule.h"

/* In the implementation's gift128.S. */
void gift_cofb_block(const uint32_t round_keys[40][2], uint32_t block[4]);

static void gift128_encrypt(const gift_cofb_ctx *ctx, uint32_t block[4]) {
    gift_cofb_block(ctx->round_keys, block);
}

#include "aead/gift-cofb/gift-cofb-body.h"
