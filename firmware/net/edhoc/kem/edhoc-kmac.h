/* EDHOC's hash and key derivation where its hash is SHAKE256 (RFC 9528, section 4.1): KMAC256
   (SP 800-185, section 4), whose keys all have HASH bytes here. */
#if defined __ARM_ARCH_7M__ || defined __ARM_ARCH_7EM__
#define KECCAK_RATE_MAX 136
#include "permutation/keccak-f1600-armv7m.h" /* the primitives have its assembly */
#else
#include "permutation/keccak-f1600-ref.h"
#endif

enum { RATE = 136, SHAKE_SUFFIX = 0x1f, CSHAKE_SUFFIX = 0x04 };

typedef struct {
    keccak_lane state[25];
    uint8_t pending[8]; /* bytes of an incomplete lane */
    unsigned fill;      /* bytes since the last permutation, those included */
} sponge;

static void sponge_add(sponge *s, const uint8_t *bytes, size_t length) {
    for (; length > 0; length--) {
        s->pending[s->fill++ % 8] = *bytes++;
        if (s->fill % 8 == 0)
            keccak_add(s->state, s->fill / 8 - 1, s->pending);
        if (s->fill == RATE) {
            keccak_permute(s->state);
            s->fill = 0;
        }
    }
}

/* Zeros up to a whole block, which end bytepad. */
static void sponge_pad(sponge *s) {
    static const uint8_t zero = 0;
    while (s->fill != 0)
        sponge_add(s, &zero, 1);
}

/* Ends absorption, and wipes the sponge after squeezing. */
OUT_OF_LINE static void sponge_end(sponge *s, uint8_t suffix, uint8_t *out, size_t length) {
    unsigned lane = 0;
    s->pending[s->fill % 8] = suffix;
    for (unsigned i = s->fill % 8 + 1; i < 8; i++)
        s->pending[i] = 0;
    keccak_add(s->state, s->fill / 8, s->pending);
    keccak_add_bit63(s->state, RATE / 8 - 1);
    while (length > 0) {
        size_t some = length < 8 ? length : 8;
        if (lane % (RATE / 8) == 0)
            keccak_permute(s->state);
        keccak_get(s->state, lane++ % (RATE / 8), s->pending);
        for (size_t i = 0; i < some; i++)
            *out++ = s->pending[i];
        length -= some;
    }
    crypto_wipe(s, sizeof *s);
}

/* H of pieces. */
OUT_OF_LINE static void hash_pieces(uint8_t out[HASH], const piece *pieces, unsigned count) {
    sponge s;
    crypto_wipe(&s, sizeof s);
    for (unsigned i = 0; i < count; i++)
        sponge_add(&s, pieces[i].at, pieces[i].length);
    sponge_end(&s, SHAKE_SUFFIX, out, HASH);
}

/* Begins KMAC256: bytepad(encode_string("KMAC") || encode_string("")), bytepad(encode_string(K)).
 */
OUT_OF_LINE static void kmac_begin(sponge *s, const uint8_t key[HASH]) {
    static const uint8_t name[] = {1, RATE, 1, 32, 'K', 'M', 'A', 'C', 1, 0};
    static const uint8_t head[] = {1, RATE, 2, 8 * HASH >> 8, 8 * HASH & 255};
    crypto_wipe(s, sizeof *s);
    sponge_add(s, name, sizeof name);
    sponge_pad(s);
    sponge_add(s, head, sizeof head);
    sponge_add(s, key, HASH);
    sponge_pad(s);
}

/* Ends it with right_encode of the output's bits, of which there are between 2^8 and 2^16 or, for
   keys and nonces, fewer. */
static void kmac_end(sponge *s, uint8_t *out, size_t length) {
    size_t bits = 8 * length;
    const uint8_t end[] = {(uint8_t)(bits >> 8), (uint8_t)bits, bits > 255 ? 2 : 1};
    unsigned skip = bits > 255 ? 0 : 1;
    sponge_add(s, end + skip, sizeof end - skip);
    sponge_end(s, CSHAKE_SUFFIX, out, length);
}

/* EDHOC_Extract. */
OUT_OF_LINE static void extract(uint8_t out[HASH], const uint8_t salt[HASH],
                                const uint8_t secret[SHARED]) {
    sponge s;
    kmac_begin(&s, salt);
    sponge_add(&s, secret, SHARED);
    kmac_end(&s, out, HASH);
}

/* EDHOC_KDF with the pieces as context: KMAC256 of (label, context, length). */
OUT_OF_LINE static void kdf(uint8_t *out, size_t length, const uint8_t prk[HASH], enum label label,
                            const piece *pieces, unsigned count) {
    sponge s;
    uint8_t head[CBOR_HEAD_MOST], type = (uint8_t)label;
    size_t context = 0;
    for (unsigned i = 0; i < count; i++)
        context += pieces[i].length;
    kmac_begin(&s, prk);
    sponge_add(&s, &type, 1);
    sponge_add(&s, head, cbor_head(head, CBOR_BYTES, context));
    for (unsigned i = 0; i < count; i++)
        sponge_add(&s, pieces[i].at, pieces[i].length);
    sponge_add(&s, head, cbor_head(head, CBOR_UINT, length));
    kmac_end(&s, out, length);
}
