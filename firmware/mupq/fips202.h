/* The hash interface of implementations laid out as in mupq (github.com/mupq/mupq,
   common/fips202.h), for those that do not bring it: names and arguments are that interface's, the
   rest is not. FIPS 202. */
#ifndef FIPS202_H
#define FIPS202_H

#include <stddef.h>
#include <stdint.h>

#define SHAKE128_RATE 168
#define SHAKE256_RATE 136
#define SHA3_256_RATE 136
#define SHA3_384_RATE 104
#define SHA3_512_RATE 72

/* A sponge; the byte that it takes or gives next. */
typedef struct {
    uint64_t lanes[25];
    size_t at;
} fips202_sponge;

typedef fips202_sponge shake128ctx, shake128incctx, shake256ctx, shake256incctx;
typedef fips202_sponge sha3_256incctx, sha3_384incctx, sha3_512incctx;

#define FIPS202_SHAKE(name)                                                                        \
    void name##_absorb(fips202_sponge *s, const uint8_t *in, size_t length);                       \
    void name##_squeezeblocks(uint8_t *out, size_t blocks, fips202_sponge *s);                     \
    void name##_ctx_clone(fips202_sponge *to, const fips202_sponge *from);                         \
    void name##_ctx_release(fips202_sponge *s);                                                    \
    void name##_inc_init(fips202_sponge *s);                                                       \
    void name##_inc_absorb(fips202_sponge *s, const uint8_t *in, size_t length);                   \
    void name##_inc_finalize(fips202_sponge *s);                                                   \
    void name##_inc_squeeze(uint8_t *out, size_t length, fips202_sponge *s);                       \
    void name##_inc_ctx_clone(fips202_sponge *to, const fips202_sponge *from);                     \
    void name##_inc_ctx_release(fips202_sponge *s);                                                \
    void name(uint8_t *out, size_t out_length, const uint8_t *in, size_t length);

#define FIPS202_SHA3(name)                                                                         \
    void name##_inc_init(fips202_sponge *s);                                                       \
    void name##_inc_absorb(fips202_sponge *s, const uint8_t *in, size_t length);                   \
    void name##_inc_finalize(uint8_t *out, fips202_sponge *s);                                     \
    void name##_inc_ctx_clone(fips202_sponge *to, const fips202_sponge *from);                     \
    void name##_inc_ctx_release(fips202_sponge *s);                                                \
    void name(uint8_t *out, const uint8_t *in, size_t length);

FIPS202_SHAKE(shake128)
FIPS202_SHAKE(shake256)
FIPS202_SHA3(sha3_256)
FIPS202_SHA3(sha3_384)
FIPS202_SHA3(sha3_512)

#undef FIPS202_SHAKE
#undef FIPS202_SHA3

#endif
