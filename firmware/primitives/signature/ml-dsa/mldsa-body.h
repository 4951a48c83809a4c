/* ML-DSA (FIPS 204). Include it once, after "permutation/keccak-sponge.h" and
   "signature/ml-dsa/mldsa-transform.h".

   The matrix is made while it is multiplied, coefficient by coefficient, and what is derived from
   a seed is derived again whenever it is needed, so that two polynomials of 32 bits a coefficient
   are in memory at a time. Signing keeps w, 24 bits a coefficient, where the signature will be, as
   far as it fits. With MLDSA_KEEPS_VECTOR, key generation and verification keep the transformed
   vector that the matrix multiplies; with MLDSA_KEEPS_CHALLENGE, verification keeps that.

   Secret coefficients are neither divided nor compared; whether a candidate is rejected is declared
   public, as are its commitment's hash and, once it is accepted, where its hints are: FIPS 204,
   section 3.3 and J. Devevey et al., CRYPTO 2023, on what rejected candidates tell. */
#include "declared-public.h"
#include "mldsa.h"

enum {
    N = 256,
    K = MLDSA_K,
    L = MLDSA_L,
    ETA = MLDSA_ETA,
    OMEGA = MLDSA_OMEGA,
    BETA = MLDSA_TAU * MLDSA_ETA,
    STEPS = MLDSA_STEPS, /* number of high parts: (q - 1) / (2 gamma2) */
    CHALLENGE_LANES = MLDSA_CHALLENGE_BYTES / 8,
    DROPPED_BITS = 13, /* of t */
    MASK_BITS = MLDSA_GAMMA1_BITS + 1,
    MASK_BYTES = 32 * MASK_BITS, /* of a polynomial of y or z */
    FOUR_BYTES = MASK_BITS / 2,  /* of four of their coefficients */
    ROW_BYTES = 3 * N,           /* of a polynomial of w */
    ROWS_IN_SIGNATURE = MLDSA_SIGNATURE_BYTES / ROW_BYTES,
    ROWS_BESIDE = K - ROWS_IN_SIGNATURE,
    HINT_BYTES = OMEGA + K,
    RATE_128 = 21, /* SHAKE128, in lanes */
    RATE_256 = 17  /* SHAKE256 */
};

#define GAMMA1 ((int32_t)1 << MLDSA_GAMMA1_BITS)
#define GAMMA2 ((int32_t)((Q - 1) / (2 * STEPS)))

/* Where the parts of H(xi || k || l) begin (algorithm 6, line 1). */
enum { RHO = 0, RHO_PRIME = 32, KEY = 96, SEEDS_BYTES = 128 };

/* The challenge (algorithm 29): which coefficients are not 0, which are -1. */
typedef struct {
    uint8_t nonzero[32], negative[32];
} challenge;

static void clear(int32_t *p) {
    crypto_wipe(p, N * sizeof *p);
}

/* Begins the stream of a seed and two bytes. */
static void start_stream(keccak_sponge *s, uint8_t rate, const uint8_t *seed, unsigned lanes,
                         uint8_t first, uint8_t second) {
    keccak_start(s, rate);
    keccak_absorb(s, seed, lanes);
    keccak_finish(s, first, second, 2, KECCAK_SHAKE);
}

/* Returns the next coefficient of the matrix that a stream gives (algorithm 14), q or more if it is
   to be rejected. */
static inline int32_t candidate(const uint8_t *b) {
#ifdef __ARM_FEATURE_UNALIGNED
    return (int32_t)(crypto_load_word(b) & 0x7fffff);
#else
    return (int32_t)((uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)(b[2] & 0x7f) << 16);
#endif
}

/* Adds the product of an entry of the matrix (algorithm 30) and a transformed polynomial, which
   alone is secret. */
CRYPTO_NOT_INLINE static void add_matrix_product(int32_t *p, keccak_sponge *s, const uint8_t *rho,
                                                 unsigned row, unsigned column, const int32_t *y) {
    uint8_t bytes[25]; /* the last is not used */
    bytes[24] = 0;
    start_stream(s, RATE_128, rho, 4, (uint8_t)column, (uint8_t)row);
    for (int32_t *end = p + N;;) {
        keccak_squeeze(s, bytes, 3);
        for (unsigned i = 0; i < 24; i += 3) {
            int32_t a = candidate(bytes + i);
            if (a < Q) {
                *p += product(*y++, a);
                if (++p == end)
                    return;
            }
        }
    }
}

/* Stores a coefficient of w, from 0 to q - 1. */
static inline void put_coefficient(uint8_t *to, int32_t a) {
    to[0] = (uint8_t)a;
    to[1] = (uint8_t)(a >> 8);
    to[2] = (uint8_t)(a >> 16);
}

static inline int32_t get_coefficient(const uint8_t *from) {
    return (int32_t)((uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16);
}

/* Does the same to a polynomial of w. */
CRYPTO_NOT_INLINE static void add_matrix_product_to_row(uint8_t *to, keccak_sponge *s,
                                                        const uint8_t *rho, unsigned row,
                                                        unsigned column, const int32_t *y) {
    uint8_t bytes[25]; /* the last is not used */
    bytes[24] = 0;
    start_stream(s, RATE_128, rho, 4, (uint8_t)column, (uint8_t)row);
    for (uint8_t *end = to + ROW_BYTES;;) {
        keccak_squeeze(s, bytes, 3);
        for (unsigned i = 0; i < 24; i += 3) {
            int32_t a = candidate(bytes + i);
            if (a < Q) {
                put_coefficient(to, canonical(get_coefficient(to) + product(*y++, a)));
                to += 3;
                if (to == end)
                    return;
            }
        }
    }
}

/* Adds the number-th secret polynomial, of s1 and then s2 (algorithms 31 and 33). The stream does
   not tell the accepted values by the places of the rejected ones. */
CRYPTO_NOT_INLINE static void add_secret(int32_t *p, keccak_sponge *s, const uint8_t *seeds,
                                         unsigned number) {
    enum { VALUES = ETA == 2 ? 15 : 9 };
    uint8_t bytes[8];
    start_stream(s, RATE_256, seeds + RHO_PRIME, 8, (uint8_t)number, 0);
    for (int32_t *end = p + N;;) {
        uint16_t accepted = 0;
        keccak_squeeze(s, bytes, 1);
        for (unsigned i = 0; i < 8; i++) {
            unsigned low = bytes[i] & 15u, high = bytes[i] >> 4;
            accepted |= (uint16_t)((low - VALUES) >> 15 & 1u) << 2 * i;
            accepted |= (uint16_t)(((high - VALUES) >> 15 & 1u) << 1) << 2 * i;
        }
        crypto_public(&accepted, sizeof accepted);
        for (unsigned i = 0; i < 16; i++, accepted >>= 1) {
            if ((accepted & 1) == 0)
                continue;
            unsigned value = bytes[i / 2] >> 4 * (i & 1) & 15u;
            if (ETA == 2)
                value -= 5 * (value * 205 >> 10); /* modulo 5 */
            *p++ += ETA - (int)value;
            if (p == end) {
                crypto_wipe(bytes, sizeof bytes);
                return;
            }
        }
    }
}

/* Adds four coefficients of y or z: gamma1 less what is packed (algorithm 19). */
static inline void add_four(int32_t *p, const uint8_t *b) {
#if MLDSA_GAMMA1_BITS == 17
    p[0] += GAMMA1 - (int32_t)(b[0] | (uint32_t)b[1] << 8 | (uint32_t)(b[2] & 3) << 16);
    p[1] += GAMMA1 - (int32_t)(b[2] >> 2 | (uint32_t)b[3] << 6 | (uint32_t)(b[4] & 15) << 14);
    p[2] += GAMMA1 - (int32_t)(b[4] >> 4 | (uint32_t)b[5] << 4 | (uint32_t)(b[6] & 63) << 12);
    p[3] += GAMMA1 - (int32_t)(b[6] >> 6 | (uint32_t)b[7] << 2 | (uint32_t)b[8] << 10);
#else
    for (unsigned i = 0; i < 4; i += 2, b += 5) {
        p[i] += GAMMA1 - (int32_t)(b[0] | (uint32_t)b[1] << 8 | (uint32_t)(b[2] & 15) << 16);
        p[i + 1] += GAMMA1 - (int32_t)(b[2] >> 4 | (uint32_t)b[3] << 4 | (uint32_t)b[4] << 12);
    }
#endif
}

/* Adds a polynomial of the mask y (algorithm 34). */
CRYPTO_NOT_INLINE static void add_mask(int32_t *p, keccak_sponge *s, const uint8_t *seed,
                                       unsigned number) {
    enum { LANES = FOUR_BYTES == 9 ? 9 : 5 };
    uint8_t bytes[8 * LANES];
    start_stream(s, RATE_256, seed, 8, (uint8_t)number, (uint8_t)(number >> 8));
    for (int32_t *end = p + N; p < end;) {
        keccak_squeeze(s, bytes, LANES);
        for (unsigned i = 0; i < sizeof bytes; i += FOUR_BYTES, p += 4)
            add_four(p, bytes + i);
    }
    crypto_wipe(bytes, sizeof bytes);
}

/* Packs a polynomial of z. */
static void pack_mask(uint8_t *to, const int32_t *p) {
    for (unsigned i = 0; i < N; i += 4, p += 4) {
        uint32_t c[4];
        for (unsigned j = 0; j < 4; j++)
            c[j] = (uint32_t)(GAMMA1 - p[j]);
#if MLDSA_GAMMA1_BITS == 17
        to[0] = (uint8_t)c[0];
        to[1] = (uint8_t)(c[0] >> 8);
        to[2] = (uint8_t)(c[0] >> 16 | c[1] << 2);
        to[3] = (uint8_t)(c[1] >> 6);
        to[4] = (uint8_t)(c[1] >> 14 | c[2] << 4);
        to[5] = (uint8_t)(c[2] >> 4);
        to[6] = (uint8_t)(c[2] >> 12 | c[3] << 6);
        to[7] = (uint8_t)(c[3] >> 2);
        to[8] = (uint8_t)(c[3] >> 10);
#else
        for (unsigned j = 0; j < 4; j += 2) {
            uint8_t *b = to + 5 * j / 2;
            b[0] = (uint8_t)c[j];
            b[1] = (uint8_t)(c[j] >> 8);
            b[2] = (uint8_t)(c[j] >> 16 | c[j + 1] << 4);
            b[3] = (uint8_t)(c[j + 1] >> 4);
            b[4] = (uint8_t)(c[j + 1] >> 12);
        }
#endif
        to += FOUR_BYTES;
    }
}

/* Returns a number whose highest bit is set if a coefficient's size is not below the bound. */
static uint32_t exceeds(const int32_t *p, int32_t bound) {
    int32_t any = 0;
    for (unsigned i = 0; i < N; i++)
        any |= (bound - 1 - p[i]) | (bound - 1 + p[i]);
    return (uint32_t)any;
}

/* Rounds a number from 0 to q - 1 to steps of 2 gamma2, of which there are STEPS + 1: the last is
   as the first, and q - 1 the multiple of it. */
static inline int32_t rounded(int32_t a) {
    uint32_t above = (uint32_t)(a + GAMMA2 - 1);
    /* above / 93 / 2^11, above / 1023 / 2^9: exact for all such numbers */
    return (int32_t)(STEPS == 44 ? (above >> 11) * 2819 >> 18 : ((above >> 9) * 1025 + 1025) >> 20);
}

/* HighBits (algorithm 37) of a rounded number. */
static inline int32_t high_of(int32_t step) {
    return step & ~sign_of(STEPS - 1 - step);
}

/* LowBits (algorithm 38). */
static inline int32_t low_of(int32_t a, int32_t step) {
    return a - step * 2 * GAMMA2 + sign_of(STEPS - 1 - step);
}

/* Packs the high parts of a polynomial of w (algorithm 28), in its own place, and absorbs them. */
static void absorb_high(keccak_sponge *s, int32_t *p) {
    enum { LANES = STEPS == 44 ? 24 : 16 };
    uint8_t *to = (uint8_t *)p;
    for (const int32_t *from = p; from < p + N; from += 4) {
        uint8_t a = (uint8_t)from[0], b = (uint8_t)from[1];
        uint8_t c = (uint8_t)from[2], d = (uint8_t)from[3];
#if MLDSA_STEPS == 44
        *to++ = (uint8_t)(a | b << 6);
        *to++ = (uint8_t)(b >> 2 | c << 4);
        *to++ = (uint8_t)(c >> 4 | d << 2);
#else
        *to++ = (uint8_t)(a | b << 4);
        *to++ = (uint8_t)(c | d << 4);
#endif
    }
    keccak_absorb(s, (const uint8_t *)p, LANES);
}

/* SampleInBall (algorithm 29). */
CRYPTO_NOT_INLINE static void sample(int32_t *p, keccak_sponge *s, const uint8_t *hash) {
    uint8_t bytes[8], signs[8];
    unsigned next = 8;
    keccak_start(s, RATE_256);
    keccak_absorb(s, hash, CHALLENGE_LANES);
    keccak_finish(s, 0, 0, 0, KECCAK_SHAKE);
    keccak_squeeze(s, signs, 1);
    clear(p);
    for (unsigned i = N - MLDSA_TAU, sign = 0; i < N; i++, sign++) {
        unsigned j;
        do {
            if (next == 8) {
                keccak_squeeze(s, bytes, 1);
                next = 0;
            }
            j = bytes[next++];
        } while (j > i);
        p[i] = p[j];
        p[j] = 1 - 2 * (signs[sign / 8] >> sign % 8 & 1);
    }
}

static void keep_challenge(challenge *c, const int32_t *p) {
    crypto_wipe(c, sizeof *c);
    for (unsigned i = 0; i < N; i++) {
        c->nonzero[i / 8] |= (uint8_t)((p[i] & 1) << i % 8);
        c->negative[i / 8] |= (uint8_t)((p[i] >> 1 & 1) << i % 8);
    }
}

static void transformed_challenge(int32_t *p, const challenge *c) {
    for (unsigned i = 0; i < N; i++) {
        int nonzero = c->nonzero[i / 8] >> i % 8 & 1, negative = c->negative[i / 8] >> i % 8 & 1;
        p[i] = nonzero - 2 * negative;
    }
    transform(p);
}

static void multiply(int32_t *p, const int32_t *by) {
    for (unsigned i = 0; i < N; i++)
        p[i] = product(p[i], by[i]);
}

/* p = p times the challenge, using y. */
static void multiply_by_challenge(int32_t *p, const challenge *c, int32_t *y) {
    transform(p);
    transformed_challenge(y, c);
    multiply(p, y);
    transform_back(p);
}

/* Begins the stream of mu (algorithm 7, line 6); 64 bytes for the hash of the public key. */
CRYPTO_NOT_INLINE static void start_message(keccak_sponge *s, uint8_t *hash,
                                            const uint8_t *public_key,
                                            const mldsa_message *message) {
    uint8_t lane[8];
    const uint8_t head[2] = {message->is_hashed, message->context_bytes};
    const struct {
        const uint8_t *bytes;
        size_t length;
    } pieces[3] = {{head, sizeof head},
                   {message->context, message->context_bytes},
                   {message->bytes, message->length}};
    unsigned fill = 0;
    keccak_start(s, RATE_256);
    keccak_absorb(s, public_key, MLDSA_PUBLIC_BYTES / 8);
    keccak_finish(s, 0, 0, 0, KECCAK_SHAKE);
    keccak_squeeze(s, hash, 8);
    keccak_start(s, RATE_256);
    keccak_absorb(s, hash, 8);
    for (unsigned i = 0; i < 3; i++) {
        for (size_t j = 0; j < pieces[i].length; j++) {
            lane[fill++] = pieces[i].bytes[j];
            if (fill == 8) {
                keccak_absorb(s, lane, 1);
                fill = 0;
            }
        }
    }
    lane[fill++] = KECCAK_SHAKE;
    while (fill < 8)
        lane[fill++] = 0;
    keccak_add(s->state, s->next, lane);
    keccak_add_bit63(s->state, RATE_256 - 1);
    keccak_permute(s->state);
    s->next = 0;
}

/* Expands the secret key (algorithm 6, line 1). */
static void expand(uint8_t *seeds, keccak_sponge *s, const uint8_t *secret_key) {
    start_stream(s, RATE_256, secret_key, 4, K, L);
    keccak_squeeze(s, seeds, SEEDS_BYTES / 8);
    crypto_public(seeds + RHO, 32);
}

/* p = row i of t, from 0 to q - 1 (algorithm 6, line 5). The vector is s1 transformed, kept from
   one row to the next, or room for one polynomial of it. */
static void compute_row(int32_t *p, keccak_sponge *s, const uint8_t *seeds, unsigned row,
                        int32_t (*vector)[N], int is_kept) {
    clear(p);
    for (unsigned j = 0; j < L; j++) {
        int32_t *y = vector[is_kept ? j : 0];
        if (!is_kept || row == 0) {
            clear(y);
            add_secret(y, s, seeds, j);
            transform(y);
        }
        add_matrix_product(p, s, seeds + RHO, row, j, y);
    }
    transform_back(p);
    add_secret(p, s, seeds, L + row);
    for (unsigned i = 0; i < N; i++)
        p[i] = canonical(p[i]);
}

/* Power2Round (algorithm 35). */
static inline int32_t upper(int32_t a) {
    return (a + (1 << (DROPPED_BITS - 1)) - 1) >> DROPPED_BITS;
}

#ifdef MLDSA_KEEPS_VECTOR
enum { VECTOR = L };
#else
enum { VECTOR = 1 };
#endif

/* ML-DSA.KeyGen_internal (algorithm 6). */
CRYPTO_NOT_INLINE static void keygen(uint8_t *public_key, const uint8_t *secret_key) {
    keccak_sponge s;
    uint8_t seeds[SEEDS_BYTES];
    int32_t p[N], vector[VECTOR][N];
    expand(seeds, &s, secret_key);
    for (unsigned i = 0; i < 32; i++)
        *public_key++ = seeds[RHO + i];
    for (unsigned row = 0; row < K; row++) {
        compute_row(p, &s, seeds, row, vector, VECTOR > 1);
        for (unsigned i = 0; i < N; i += 4, public_key += 5) {
            uint16_t c[4];
            for (unsigned j = 0; j < 4; j++)
                c[j] = (uint16_t)upper(p[i + j]);
            public_key[0] = (uint8_t)c[0];
            public_key[1] = (uint8_t)(c[0] >> 8 | c[1] << 2);
            public_key[2] = (uint8_t)(c[1] >> 6 | c[2] << 4);
            public_key[3] = (uint8_t)(c[2] >> 4 | c[3] << 6);
            public_key[4] = (uint8_t)(c[3] >> 2);
        }
    }
}

/* What signing has in memory besides the signature. */
typedef struct {
    keccak_sponge s;
    uint8_t seeds[SEEDS_BYTES];
    uint8_t mu[64], mask_seed[64];
    uint8_t hash[MLDSA_CHALLENGE_BYTES]; /* the commitment's, from which the challenge comes */
    challenge c;
    uint8_t hints[HINT_BYTES];
    int32_t p[N], y[N];
    uint8_t rows[ROWS_BESIDE][ROW_BYTES];
    uint8_t *signature;
} signing;

static uint8_t *row_of(signing *g, unsigned i) {
    return i < ROWS_IN_SIGNATURE ? g->signature + ROW_BYTES * i : g->rows[i - ROWS_IN_SIGNATURE];
}

/* w = A y and the challenge (algorithm 7, lines 11 to 16). */
CRYPTO_NOT_INLINE static void commit(signing *g, unsigned number) {
    for (unsigned i = 0; i < K; i++)
        crypto_wipe(row_of(g, i), ROW_BYTES);
    for (unsigned j = 0; j < L; j++) {
        clear(g->y);
        add_mask(g->y, &g->s, g->mask_seed, number + j);
        transform(g->y);
        for (unsigned i = 0; i < K; i++)
            add_matrix_product_to_row(row_of(g, i), &g->s, g->seeds + RHO, i, j, g->y);
    }
    keccak_start(&g->s, RATE_256);
    keccak_absorb(&g->s, g->mu, 8);
    for (unsigned i = 0; i < K; i++) {
        uint8_t *row = row_of(g, i);
        for (unsigned j = 0; j < N; j++)
            g->y[j] = get_coefficient(row + 3 * j);
        transform_back(g->y);
        for (unsigned j = 0; j < N; j++, row += 3) {
            int32_t a = canonical(g->y[j]);
            put_coefficient(row, a);
            g->y[j] = high_of(rounded(a));
        }
        absorb_high(&g->s, g->y);
    }
    keccak_finish(&g->s, 0, 0, 0, KECCAK_SHAKE);
    keccak_squeeze(&g->s, g->hash, CHALLENGE_LANES);
    crypto_public(g->hash, sizeof g->hash);
    sample(g->y, &g->s, g->hash);
    keep_challenge(&g->c, g->y);
}

/* w = w - c s2. Returns whether its low parts are small enough (lines 18, 20, 21). */
CRYPTO_NOT_INLINE static int is_hidden(signing *g) {
    uint32_t large = 0;
    for (unsigned i = 0; i < K; i++) {
        uint8_t *row = row_of(g, i);
        clear(g->p);
        add_secret(g->p, &g->s, g->seeds, L + i);
        multiply_by_challenge(g->p, &g->c, g->y);
        for (unsigned j = 0; j < N; j++, row += 3) {
            int32_t a = canonical(get_coefficient(row) - g->p[j]);
            put_coefficient(row, a);
            g->p[j] = low_of(a, rounded(a));
        }
        large |= exceeds(g->p, GAMMA2 - BETA);
    }
    large >>= 31;
    crypto_public(&large, sizeof large);
    return large == 0;
}

/* p = a polynomial of z (lines 17 and 19). */
static void compute_response(signing *g, unsigned number, unsigned column) {
    clear(g->p);
    add_secret(g->p, &g->s, g->seeds, column);
    multiply_by_challenge(g->p, &g->c, g->y);
    for (unsigned i = 0; i < N; i++)
        g->p[i] = centered(g->p[i]);
    add_mask(g->p, &g->s, g->mask_seed, number + column);
}

static int is_short(signing *g, unsigned number) {
    uint32_t large = 0;
    for (unsigned j = 0; j < L; j++) {
        compute_response(g, number, j);
        large |= exceeds(g->p, GAMMA1 - BETA);
    }
    large >>= 31;
    crypto_public(&large, sizeof large);
    return large == 0;
}

/* Hints for what c t0 carries (lines 25 to 28). */
CRYPTO_NOT_INLINE static int are_hints_made(signing *g) {
    unsigned count = 0;
    crypto_wipe(g->hints, sizeof g->hints);
    for (unsigned i = 0; i < K; i++) {
        const uint8_t *row = row_of(g, i);
        uint8_t hints[N / 8] = {0};
        compute_row(g->p, &g->s, g->seeds, i, &g->y, 0);
        for (unsigned j = 0; j < N; j++)
            g->p[j] -= upper(g->p[j]) << DROPPED_BITS;
        multiply_by_challenge(g->p, &g->c, g->y);
        for (unsigned j = 0; j < N; j++, row += 3) {
            g->p[j] = centered(g->p[j]);
            int32_t a = get_coefficient(row);
            int32_t carried = high_of(rounded(a)) ^ high_of(rounded(canonical(a + g->p[j])));
            hints[j / 8] |= (uint8_t)(crypto_not_zero((unsigned)carried) << j % 8);
        }
        uint32_t large = exceeds(g->p, GAMMA2) >> 31;
        crypto_public(&large, sizeof large);
        crypto_public(hints, sizeof hints);
        for (unsigned j = 0; j < N; j++) {
            if ((hints[j / 8] >> j % 8 & 1) == 0)
                continue;
            if (count == OMEGA)
                return 0;
            g->hints[count++] = (uint8_t)j;
        }
        if (large != 0)
            return 0;
        g->hints[OMEGA + i] = (uint8_t)count;
    }
    return 1;
}

/* ML-DSA.Sign_internal (algorithm 7). */
CRYPTO_NOT_INLINE static void sign(uint8_t *signature, const uint8_t *secret_key,
                                   const uint8_t *public_key, const uint8_t *seed,
                                   const mldsa_message *message) {
    signing g;
    unsigned number = 0;
    g.signature = signature;
    start_message(&g.s, g.mu, public_key, message);
    keccak_squeeze(&g.s, g.mu, 8);
    expand(g.seeds, &g.s, secret_key);
    keccak_start(&g.s, RATE_256);
    keccak_absorb(&g.s, g.seeds + KEY, 4);
    keccak_absorb(&g.s, seed, 4);
    keccak_absorb(&g.s, g.mu, 8);
    keccak_finish(&g.s, 0, 0, 0, KECCAK_SHAKE);
    keccak_squeeze(&g.s, g.mask_seed, 8);
    for (;; number += L) {
        commit(&g, number);
        if (is_hidden(&g) && is_short(&g, number) && are_hints_made(&g))
            break;
    }
    for (unsigned i = 0; i < MLDSA_CHALLENGE_BYTES; i++)
        *signature++ = g.hash[i];
    for (unsigned j = 0; j < L; j++, signature += MASK_BYTES) {
        compute_response(&g, number, j);
        pack_mask(signature, g.p);
    }
    for (unsigned i = 0; i < HINT_BYTES; i++)
        *signature++ = g.hints[i];
}

/* HintBitUnpack (algorithm 21): returns whether the hints are what signing writes. */
static int are_hints_valid(const uint8_t *hints) {
    unsigned at = 0;
    for (unsigned i = 0; i < K; i++) {
        unsigned end = hints[OMEGA + i];
        if (end < at || end > OMEGA)
            return 0;
        for (unsigned first = at; at < end; at++)
            if (at > first && hints[at - 1] >= hints[at])
                return 0;
    }
    for (; at < OMEGA; at++)
        if (hints[at] != 0)
            return 0;
    return 1;
}

/* y = a transformed polynomial of z. Returns whether z is short. */
static int unpack_response(int32_t *y, const uint8_t *from) {
    clear(y);
    for (unsigned i = 0; i < N; i += 4, from += FOUR_BYTES)
        add_four(y + i, from);
    int is_short = exceeds(y, GAMMA1 - BETA) >> 31 == 0;
    transform(y);
    return is_short;
}

/* p = a polynomial of t1 times 2^13, transformed. */
static void unpack_top(int32_t *p, const uint8_t *b) {
    for (unsigned i = 0; i < N; i += 4, b += 5) {
        p[i] = (int32_t)(b[0] | (uint32_t)(b[1] & 3) << 8) << DROPPED_BITS;
        p[i + 1] = (int32_t)(b[1] >> 2 | (uint32_t)(b[2] & 15) << 6) << DROPPED_BITS;
        p[i + 2] = (int32_t)(b[2] >> 4 | (uint32_t)(b[3] & 63) << 4) << DROPPED_BITS;
        p[i + 3] = (int32_t)(b[3] >> 6 | (uint32_t)b[4] << 2) << DROPPED_BITS;
    }
    transform(p);
}

/* Replaces a row of w, approximately known, by its high parts (algorithm 40) and absorbs them.
   Returns the next row's hints. */
static const uint8_t *absorb_commitment(keccak_sponge *s, int32_t *p, const uint8_t *hint,
                                        const uint8_t *end) {
    unsigned next = hint < end ? *hint : N;
    transform_back(p);
    for (unsigned j = 0; j < N; j++) {
        int32_t a = canonical(p[j]), step = rounded(a), part = high_of(step);
        if (j == next) {
            next = ++hint < end ? *hint : N;
            part += low_of(a, step) > 0 ? 1 : STEPS - 1;
            part = part >= STEPS ? part - STEPS : part;
        }
        p[j] = part;
    }
    absorb_high(s, p);
    return end;
}

/* ML-DSA.Verify_internal (algorithm 8): the hash of mu and of the high parts of A z - c t1 2^13,
   made row by row, is compared. Key, message and signature are public. */
#ifdef MLDSA_KEEPS_VECTOR
CRYPTO_NOT_INLINE static int verified(const uint8_t *signature, const uint8_t *public_key,
                                      const mldsa_message *message) {
    keccak_sponge s, commitment;
    const uint8_t *z = signature + MLDSA_CHALLENGE_BYTES, *hints = z + L * MASK_BYTES;
    const uint8_t *hint = hints, *tops = public_key + 32;
    uint8_t bytes[64];
    int32_t p[N], top[N], vector[L][N];
    if (!are_hints_valid(hints))
        return 0;
    for (unsigned j = 0; j < L; j++)
        if (!unpack_response(vector[j], z + MASK_BYTES * j))
            return 0;
    start_message(&s, bytes, public_key, message);
    keccak_squeeze(&s, bytes, 8);
    keccak_start(&commitment, RATE_256);
    keccak_absorb(&commitment, bytes, 8);
    sample(top, &s, signature);
    transform(top);
    for (unsigned i = 0; i < K; i++) {
        unpack_top(p, tops + 320 * i);
        for (unsigned j = 0; j < N; j++)
            p[j] = -product(p[j], top[j]);
        for (unsigned j = 0; j < L; j++)
            add_matrix_product(p, &s, public_key, i, j, vector[j]);
        hint = absorb_commitment(&commitment, p, hint, hints + hints[OMEGA + i]);
    }
    keccak_finish(&commitment, 0, 0, 0, KECCAK_SHAKE);
    keccak_squeeze(&commitment, bytes, CHALLENGE_LANES);
    return crypto_equal(bytes, signature, MLDSA_CHALLENGE_BYTES);
}
#else
CRYPTO_NOT_INLINE static int verified(const uint8_t *signature, const uint8_t *public_key,
                                      const mldsa_message *message) {
    keccak_sponge s, commitment;
    const uint8_t *z = signature + MLDSA_CHALLENGE_BYTES, *hints = z + L * MASK_BYTES;
    const uint8_t *hint = hints, *tops = public_key + 32;
    int32_t p[N];
    uint8_t row[ROW_BYTES];
#ifdef MLDSA_KEEPS_CHALLENGE
    uint8_t multiplier[ROW_BYTES]; /* the challenge, transformed */
#endif
    if (!are_hints_valid(hints))
        return 0;
    start_message(&s, row, public_key, message);
    keccak_squeeze(&s, row, 8);
    keccak_start(&commitment, RATE_256);
    keccak_absorb(&commitment, row, 8);
#ifdef MLDSA_KEEPS_CHALLENGE
    sample(p, &s, signature);
    transform(p);
    for (unsigned j = 0; j < N; j++)
        put_coefficient(multiplier + 3 * j, canonical(p[j]));
#endif
    for (unsigned i = 0; i < K; i++) {
        unpack_top(p, tops + 320 * i);
#ifdef MLDSA_KEEPS_CHALLENGE
        for (unsigned j = 0; j < ROW_BYTES; j++)
            row[j] = multiplier[j];
#else
        for (unsigned j = 0; j < N; j++)
            put_coefficient(row + 3 * j, canonical(p[j]));
        sample(p, &s, signature);
        transform(p);
#endif
        for (unsigned j = 0; j < N; j++) {
            uint8_t *a = row + 3 * j;
            put_coefficient(a, canonical(-product(p[j], get_coefficient(a))));
        }
        for (unsigned j = 0; j < L; j++) {
            if (!unpack_response(p, z + MASK_BYTES * j))
                return 0;
            add_matrix_product_to_row(row, &s, public_key, i, j, p);
        }
        for (unsigned j = 0; j < N; j++)
            p[j] = get_coefficient(row + 3 * j);
        hint = absorb_commitment(&commitment, p, hint, hints + hints[OMEGA + i]);
    }
    keccak_finish(&commitment, 0, 0, 0, KECCAK_SHAKE);
    keccak_squeeze(&commitment, row, CHALLENGE_LANES);
    return crypto_equal(row, signature, MLDSA_CHALLENGE_BYTES);
}
#endif

CRYPTO_WIPE_FRAMES(wipe_keygen, sizeof(keccak_sponge) + (1 + VECTOR) * 4 * N + 768)
CRYPTO_WIPE_FRAMES(wipe_signing, sizeof(signing) + 512)

crypto_status mldsa_keygen(uint8_t *public_key, const uint8_t *secret_key) {
    keygen(public_key, secret_key);
    wipe_keygen();
    return CRYPTO_OK;
}

crypto_status mldsa_sign_message(uint8_t *signature, const uint8_t *secret_key,
                                 const uint8_t *public_key, const uint8_t *seed,
                                 const mldsa_message *message) {
    sign(signature, secret_key, public_key, seed, message);
    wipe_signing();
    return CRYPTO_OK;
}

crypto_status mldsa_verify_message(const uint8_t *signature, const uint8_t *public_key,
                                   const mldsa_message *message) {
    return verified(signature, public_key, message) ? CRYPTO_OK : CRYPTO_BAD_TAG;
}

crypto_status mldsa_sign(uint8_t *signature, const uint8_t *secret_key, const uint8_t *public_key,
                         const uint8_t *seed, const uint8_t *message, size_t length) {
    const mldsa_message whole = {NULL, 0, 0, message, length};
    return mldsa_sign_message(signature, secret_key, public_key, seed, &whole);
}

crypto_status mldsa_verify(const uint8_t *signature, const uint8_t *public_key,
                           const uint8_t *message, size_t length) {
    const mldsa_message whole = {NULL, 0, 0, message, length};
    return mldsa_verify_message(signature, public_key, &whole);
}
