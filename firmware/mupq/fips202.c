#include "fips202.h"

#include "permutation/keccak-f1600-ref.h"

/* FIPS 202, sections 6.1 and 6.2: the suffixes, with the first bit of the padding. */
enum { SHA3 = 0x06, SHAKE = 0x1f };

static void add(fips202_sponge *s, size_t at, uint8_t byte) {
    s->lanes[at / 8] ^= (uint64_t)byte << 8 * (at % 8);
}

static void start(fips202_sponge *s) {
    *s = (fips202_sponge){0};
}

static void absorb(fips202_sponge *s, const uint8_t *in, size_t length, size_t rate) {
    while (length-- > 0) {
        add(s, s->at, *in++);
        if (++s->at == rate) {
            keccak_permute(s->lanes);
            s->at = 0;
        }
    }
}

/* Afterwards, all of a block has been given. */
static void finish(fips202_sponge *s, size_t rate, uint8_t suffix) {
    add(s, s->at, suffix);
    add(s, rate - 1, 0x80);
    s->at = rate;
}

static void squeeze(fips202_sponge *s, uint8_t *out, size_t length, size_t rate) {
    while (length-- > 0) {
        if (s->at == rate) {
            keccak_permute(s->lanes);
            s->at = 0;
        }
        *out++ = (uint8_t)(s->lanes[s->at / 8] >> 8 * (s->at % 8));
        s->at++;
    }
}

#define SHARED(name, RATE)                                                                         \
    void name##_inc_init(fips202_sponge *s) {                                                      \
        start(s);                                                                                  \
    }                                                                                              \
    void name##_inc_absorb(fips202_sponge *s, const uint8_t *in, size_t length) {                  \
        absorb(s, in, length, RATE);                                                               \
    }                                                                                              \
    void name##_inc_ctx_clone(fips202_sponge *to, const fips202_sponge *from) {                    \
        *to = *from;                                                                               \
    }                                                                                              \
    void name##_inc_ctx_release(fips202_sponge *s) {                                               \
        (void)s;                                                                                   \
    }

#define SHAKES(name, RATE)                                                                         \
    SHARED(name, RATE)                                                                             \
    void name##_absorb(fips202_sponge *s, const uint8_t *in, size_t length) {                      \
        start(s);                                                                                  \
        absorb(s, in, length, RATE);                                                               \
        finish(s, RATE, SHAKE);                                                                    \
    }                                                                                              \
    void name##_squeezeblocks(uint8_t *out, size_t blocks, fips202_sponge *s) {                    \
        squeeze(s, out, blocks *RATE, RATE);                                                       \
    }                                                                                              \
    void name##_ctx_clone(fips202_sponge *to, const fips202_sponge *from) {                        \
        *to = *from;                                                                               \
    }                                                                                              \
    void name##_ctx_release(fips202_sponge *s) {                                                   \
        (void)s;                                                                                   \
    }                                                                                              \
    void name##_inc_finalize(fips202_sponge *s) {                                                  \
        finish(s, RATE, SHAKE);                                                                    \
    }                                                                                              \
    void name##_inc_squeeze(uint8_t *out, size_t length, fips202_sponge *s) {                      \
        squeeze(s, out, length, RATE);                                                             \
    }                                                                                              \
    void name(uint8_t *out, size_t out_length, const uint8_t *in, size_t length) {                 \
        fips202_sponge s;                                                                          \
        name##_absorb(&s, in, length);                                                             \
        squeeze(&s, out, out_length, RATE);                                                        \
    }

#define SHA3S(name, RATE, BYTES)                                                                   \
    SHARED(name, RATE)                                                                             \
    void name##_inc_finalize(uint8_t *out, fips202_sponge *s) {                                    \
        finish(s, RATE, SHA3);                                                                     \
        squeeze(s, out, BYTES, RATE);                                                              \
    }                                                                                              \
    void name(uint8_t *out, const uint8_t *in, size_t length) {                                    \
        fips202_sponge s;                                                                          \
        start(&s);                                                                                 \
        absorb(&s, in, length, RATE);                                                              \
        name##_inc_finalize(out, &s);                                                              \
    }

SHAKES(shake128, SHAKE128_RATE)
SHAKES(shake256, SHAKE256_RATE)
SHA3S(sha3_256, SHA3_256_RATE, 32)
SHA3S(sha3_384, SHA3_384_RATE, 48)
SHA3S(sha3_512, SHA3_512_RATE, 64)
