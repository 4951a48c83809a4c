/* RFC 7253's notation: L_*, L_$, L_0, L_1, ...; Offset, Checksum, HASH. The first L_i are
   precomputed; later ones are doubled from the last of these when a block's number needs them. */
#include "ocb3.h"

enum { BLOCK = BLOCK_CIPHER_BLOCK_BYTES };

/* Blocks given to the cipher at a time, as some ciphers process several together. No cipher for a
   16-bit core does, and RAM is scarcer there. */
enum { BATCH = sizeof(size_t) > 2 ? 4 : 1 };

/* RESIDUE, SHIFT and MASKLEN for the block length: draft-krovetz-ocb-wideblock-00, section 3. For
   128 bits they equal those of RFC 7253. */
enum { RESIDUE = BLOCK == 16 ? 0x87 : 0x641, SHIFT = BLOCK == 16 ? 8 : 33, MASK = 63 };
_Static_assert(BLOCK == 16 || BLOCK == 12, "OCB3: block of 96 or 128 bits");

static void doubled(uint8_t *out, const uint8_t *in) {
    unsigned carry = 0;
    for (size_t i = BLOCK; i-- > 0;) {
        carry |= (unsigned)in[i] << 1;
        out[i] = (uint8_t)carry;
        carry >>= 8;
    }
    unsigned reduce = crypto_mask(carry);
    out[BLOCK - 1] ^= (uint8_t)(reduce & (RESIDUE & 0xff));
    out[BLOCK - 2] ^= (uint8_t)(reduce & (RESIDUE >> 8));
}

/* Offset_i = Offset_(i-1) XOR L_ntz(i), where i > 0 */
static void next_offset(const ocb3_ctx *ctx, uint8_t *offset, size_t i) {
    const uint8_t *prepared = ctx->l[0];
    uint8_t l[BLOCK];
    for (; i % 2 == 0 && prepared != ctx->l[OCB3_PREPARED - 1]; i /= 2)
        prepared += BLOCK;
    if (i % 2 == 0) {
        doubled(l, prepared);
        for (i /= 2; i % 2 == 0; i /= 2)
            doubled(l, l);
        prepared = l;
    }
    crypto_xor(offset, offset, prepared, BLOCK);
    crypto_wipe(l, sizeof l);
}

void ocb3_init(ocb3_ctx *ctx, const uint8_t *key) {
    block_cipher_init(&ctx->cipher, key);
    for (size_t i = 0; i < BLOCK; i++)
        ctx->l_star[i] = 0;
    block_cipher_encrypt(&ctx->cipher, ctx->l_star, ctx->l_star, 1);
    doubled(ctx->l_dollar, ctx->l_star);
    doubled(ctx->l[0], ctx->l_dollar);
    for (size_t i = 1; i < OCB3_PREPARED; i++)
        doubled(ctx->l[i], ctx->l[i - 1]);
}

/* sum = sum XOR HASH(K, A) */
static void add_hash(const ocb3_ctx *ctx, uint8_t *sum, const uint8_t *a, size_t length) {
    uint8_t offset[BLOCK] = {0}, block[BLOCK];
    size_t done = 0, i = 1;
    for (; length - done >= BLOCK; i++) {
        next_offset(ctx, offset, i);
        crypto_xor(block, offset, a + done, BLOCK);
        block_cipher_encrypt(&ctx->cipher, block, block, 1);
        crypto_xor(sum, sum, block, BLOCK);
        done += BLOCK;
    }
    if (length > done) {
        crypto_xor(block, offset, ctx->l_star, BLOCK);
        crypto_xor(block, block, a + done, length - done);
        block[length - done] ^= 0x80;
        block_cipher_encrypt(&ctx->cipher, block, block, 1);
        crypto_xor(sum, sum, block, BLOCK);
    }
    crypto_wipe(offset, sizeof offset);
    crypto_wipe(block, sizeof block);
}

/* Offset_0: BLOCK bytes of Stretch, starting at bit `bottom`. */
static void first_offset(const ocb3_ctx *ctx, uint8_t *offset, const aead_message *m) {
    enum { SHIFT_BYTES = SHIFT / 8, SHIFT_BITS = SHIFT % 8, STRETCH = BLOCK + MASK / 8 + 1 };
    uint8_t nonce[BLOCK] = {0}, stretch[STRETCH];
    if (m->tag_length < BLOCK) /* TAGLEN mod BLOCKLEN in seven bits */
        nonce[0] = (uint8_t)(m->tag_length << 4);
    for (size_t i = 0; i < m->nonce_length; i++)
        nonce[BLOCK - m->nonce_length + i] = m->nonce[i];
    nonce[BLOCK - 1 - m->nonce_length] |= 1;
    unsigned bottom = nonce[BLOCK - 1] & MASK;
    nonce[BLOCK - 1] = (uint8_t)(nonce[BLOCK - 1] & ~MASK);

    /* Stretch = Ktop || (Ktop XOR Ktop << SHIFT), as far as it is used. */
    block_cipher_encrypt(&ctx->cipher, stretch, nonce, 1);
    for (size_t i = 0; i < STRETCH - BLOCK; i++) {
        unsigned word = (unsigned)stretch[i + SHIFT_BYTES] << 8;
        if (i + SHIFT_BYTES + 1 < BLOCK)
            word |= stretch[i + SHIFT_BYTES + 1];
        stretch[BLOCK + i] = (uint8_t)(stretch[i] ^ (word << SHIFT_BITS) >> 8);
    }

    const uint8_t *from = stretch + bottom / 8;
    for (size_t i = 0; i < BLOCK; i++)
        offset[i] = (uint8_t)(((unsigned)from[i] << 8 | from[i + 1]) >> (8 - bottom % 8));
    crypto_wipe(stretch, sizeof stretch);
}

/* Encrypts or decrypts; tag gets BLOCK bytes. */
static void process(const ocb3_ctx *ctx, const aead_message *m, int decrypting, uint8_t *tag) {
    uint8_t offset[BLOCK], checksum[BLOCK] = {0}, block[BATCH * BLOCK], offsets[BATCH * BLOCK];
    size_t done = 0, i = 1;
    first_offset(ctx, offset, m);
    while (m->length - done >= BLOCK) {
        const uint8_t *in = m->in + done;
        uint8_t *out = m->out + done;
        size_t blocks = 0, bytes = 0;
        do {
            next_offset(ctx, offset, i++);
            __builtin_memcpy(offsets + bytes, offset, BLOCK);
            blocks++;
            bytes += BLOCK;
        } while (blocks < BATCH && m->length - done - bytes >= BLOCK);
        if (!decrypting)
            for (size_t k = 0; k < bytes; k += BLOCK)
                crypto_xor(checksum, checksum, in + k, BLOCK);
        crypto_xor(block, in, offsets, bytes);
        if (decrypting)
            block_cipher_decrypt(&ctx->cipher, block, block, blocks);
        else
            block_cipher_encrypt(&ctx->cipher, block, block, blocks);
        crypto_xor(out, block, offsets, bytes);
        if (decrypting)
            for (size_t k = 0; k < bytes; k += BLOCK)
                crypto_xor(checksum, checksum, out + k, BLOCK);
        done += bytes;
    }
    if (m->length > done) {
        size_t left = m->length - done;
        crypto_xor(offset, offset, ctx->l_star, BLOCK);
        block_cipher_encrypt(&ctx->cipher, block, offset, 1); /* Pad */
        if (!decrypting)
            crypto_xor(checksum, checksum, m->in + done, left);
        crypto_xor(m->out + done, m->in + done, block, left);
        if (decrypting)
            crypto_xor(checksum, checksum, m->out + done, left);
        checksum[left] ^= 0x80;
    }

    crypto_xor(tag, checksum, offset, BLOCK);
    crypto_xor(tag, tag, ctx->l_dollar, BLOCK);
    block_cipher_encrypt(&ctx->cipher, tag, tag, 1);
    add_hash(ctx, tag, m->ad, m->ad_length);
    crypto_wipe(offset, sizeof offset);
    crypto_wipe(checksum, sizeof checksum);
    crypto_wipe(block, sizeof block);
    crypto_wipe(offsets, sizeof offsets);
}

static int lengths_allowed(const aead_message *m) {
    return m->nonce_length > 0 && m->nonce_length < BLOCK && m->tag_length > 0 &&
           m->tag_length <= BLOCK;
}

crypto_status ocb3_encrypt(const ocb3_ctx *ctx, const aead_message *m) {
    uint8_t tag[BLOCK];
    if (!lengths_allowed(m))
        return CRYPTO_BAD_LENGTH;
    process(ctx, m, 0, tag);
    for (size_t i = 0; i < m->tag_length; i++)
        m->tag[i] = tag[i];
    crypto_wipe(tag, sizeof tag);
    return CRYPTO_OK;
}

crypto_status ocb3_decrypt(const ocb3_ctx *ctx, const aead_message *m) {
    uint8_t tag[BLOCK];
    if (!lengths_allowed(m))
        return CRYPTO_BAD_LENGTH;
    process(ctx, m, 1, tag);
    crypto_status status = aead_check_tag(m, tag);
    crypto_wipe(tag, sizeof tag);
    return status;
}
