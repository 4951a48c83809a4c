/* The paper's notation: OMAC^t, N, H, C with their tags; B = 2L and P = 4L. */
#include "eax.h"
#include "mode/counter.h"

enum { BLOCK = BLOCK_CIPHER_BLOCK_BYTES };

/* The field's polynomial without its leading term (SP 800-38B, 5.3): the lexicographically first of
   those with the fewest terms; table in Seroussi, HP Labs HPL-98-135. */
enum { POLYNOMIAL = BLOCK == 8 ? 0x1b : BLOCK == 12 ? 0x641 : 0x87 };
_Static_assert(BLOCK == 8 || BLOCK == 12 || BLOCK == 16, "EAX: no polynomial for this block size");

static void doubled(uint8_t *out, const uint8_t *in) {
    unsigned carry = 0;
    for (size_t i = BLOCK; i-- > 0;) {
        carry |= (unsigned)in[i] << 1;
        out[i] = (uint8_t)carry;
        carry >>= 8;
    }
    unsigned reduce = crypto_mask(carry);
    out[BLOCK - 1] ^= (uint8_t)(reduce & (POLYNOMIAL & 0xff));
    out[BLOCK - 2] ^= (uint8_t)(reduce & (POLYNOMIAL >> 8));
}

void eax_init(eax_ctx *ctx, const uint8_t *key) {
    block_cipher_init(&ctx->cipher, key);
    for (uint8_t t = 0; t < 3; t++) {
        for (size_t i = 0; i < BLOCK; i++)
            ctx->first[t][i] = 0;
        ctx->first[t][BLOCK - 1] = t;
    }
    block_cipher_encrypt(&ctx->cipher, ctx->first[0], ctx->first[0], 3);
    doubled(ctx->b, ctx->first[0]);
    doubled(ctx->p, ctx->b);
}

/* tag = tag XOR OMAC^t(data) */
static void add_omac(const eax_ctx *ctx, uint8_t *tag, uint8_t t, const uint8_t *data,
                     size_t length) {
    uint8_t mac[BLOCK] = {0};
    size_t used = BLOCK;
    mac[BLOCK - 1] = t;
    if (length > 0) { /* the block with t is not the last */
        for (size_t i = 0; i < BLOCK; i++)
            mac[i] = ctx->first[t][i];
        used = 0;
    }
    while (length > 0) {
        if (used == BLOCK) { /* more data follows, so this block was not the last */
            block_cipher_encrypt(&ctx->cipher, mac, mac, 1);
            used = 0;
        }
        size_t part = length < BLOCK - used ? length : BLOCK - used;
        crypto_xor(mac + used, mac + used, data, part);
        used += part;
        data += part;
        length -= part;
    }
    if (used < BLOCK)
        mac[used] ^= 0x80;
    crypto_xor(mac, mac, used < BLOCK ? ctx->p : ctx->b, BLOCK);
    block_cipher_encrypt(&ctx->cipher, mac, mac, 1);
    crypto_xor(tag, tag, mac, BLOCK);
    crypto_wipe(mac, sizeof mac);
}

/* CTR from block N, a number modulo 2^(8 BLOCK). N depends on the key, so the carry always runs
   through the whole counter, however far it reaches. */
static void ctr(const eax_ctx *ctx, const uint8_t *n, const aead_message *m) {
    uint8_t counter[BLOCK];
    for (size_t i = 0; i < BLOCK; i++)
        counter[i] = n[i];
    counter_encrypt(&ctx->cipher, counter, BLOCK, COUNTER_SECRET, m->out, m->in, m->length);
    crypto_wipe(counter, sizeof counter);
}

static int lengths_allowed(const aead_message *m) {
    return m->tag_length > 0 && m->tag_length <= BLOCK;
}

crypto_status eax_encrypt(const eax_ctx *ctx, const aead_message *m) {
    uint8_t tag[BLOCK] = {0};
    if (!lengths_allowed(m))
        return CRYPTO_BAD_LENGTH;
    add_omac(ctx, tag, 0, m->nonce, m->nonce_length);
    ctr(ctx, tag, m);
    add_omac(ctx, tag, 1, m->ad, m->ad_length);
    add_omac(ctx, tag, 2, m->out, m->length);
    for (size_t i = 0; i < m->tag_length; i++)
        m->tag[i] = tag[i];
    crypto_wipe(tag, sizeof tag);
    return CRYPTO_OK;
}

crypto_status eax_decrypt(const eax_ctx *ctx, const aead_message *m) {
    uint8_t tag[BLOCK] = {0}, n[BLOCK];
    if (!lengths_allowed(m))
        return CRYPTO_BAD_LENGTH;
    add_omac(ctx, tag, 0, m->nonce, m->nonce_length);
    for (size_t i = 0; i < BLOCK; i++)
        n[i] = tag[i];
    add_omac(ctx, tag, 1, m->ad, m->ad_length);
    add_omac(ctx, tag, 2, m->in, m->length);
    crypto_status status = aead_check_tag(m, tag);
    if (status == CRYPTO_OK)
        ctr(ctx, n, m);
    crypto_wipe(tag, sizeof tag);
    crypto_wipe(n, sizeof n);
    return status;
}
