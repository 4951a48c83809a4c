/* ML-KEM (FIPS 203), lean in stack. Include it once, after "permutation/keccak-sponge.h" and
   "kem/ml-kem/mlkem-arithmetic.h" or what replaces it.

   The matrix is made while it is multiplied, coefficient by coefficient. Vectors of the transformed
   domain are read where they lie packed, 12 bits a coefficient: in the keys, and for encryption in
   its frame; so one polynomial is unpacked at a time. What encryption writes, decapsulation
   compares instead.

   Coefficients are kept between -q and q or as bounds say; nothing is divided, and multiplied only
   where a product of 32 bits holds the result, which on ARM and the MSP430 takes the same time
   for all operands. */
#include "declared-public.h"
#include "mlkem.h"

enum {
    N = 256,
    VECTOR_BYTES = 384 * MLKEM_K,
    HASH_LANES = 4, /* of 32 bytes */
    RATE_128 = 21,  /* SHAKE128, in lanes */
    RATE_256 = 17,  /* SHAKE256 and SHA3-256 */
    RATE_512 = 9,   /* SHA3-512 */
#ifdef MLKEM_DSP
    PACKED_BYTES = 1 /* products with a secret are not of packed polynomials */
#else
    PACKED_BYTES = 384
#endif
};

/* Begins the stream PRF(seed, number) (equation 4.3). */
CRYPTO_NOT_INLINE static void start_noise(keccak_sponge *s, const uint8_t *seed, uint8_t number) {
    keccak_start(s, RATE_256);
    keccak_absorb(s, seed, HASH_LANES);
    keccak_finish(s, number, 0, 1, KECCAK_SHAKE);
}

static void clear(int16_t *p) {
    crypto_wipe(p, N * sizeof *p);
}

#ifdef MLKEM_DSP
#include "kem/ml-kem/mlkem-dsp.h"
#else
/* Adds noise (algorithm 8) of the stream. */
static void add_noise(int16_t *p, keccak_sponge *s, unsigned eta) {
    uint8_t bytes[24];
    if (eta == 2) {
        for (unsigned i = 0; i < N; i += 16) {
            keccak_squeeze(s, bytes, 1);
            for (unsigned j = 0; j < 8; j += 2, p += 4)
                add_binomial_2(p, (uint16_t)(bytes[j] | bytes[j + 1] << 8));
        }
    } else {
        for (unsigned i = 0; i < N; i += 32) {
            keccak_squeeze(s, bytes, 3);
            for (unsigned j = 0; j < 24; j += 3, p += 4) {
                add_binomial_3(p, (uint16_t)((bytes[j] | bytes[j + 1] << 8) & 0xfff));
                add_binomial_3(p + 2, (uint16_t)(bytes[j + 1] >> 4 | bytes[j + 2] << 4));
            }
        }
    }
    crypto_wipe(bytes, sizeof bytes);
}

/* Adds the product of an entry of the matrix (algorithm 7, whose last input bytes are first and
   second) and a packed polynomial. Only the packed one is secret. */
static void add_matrix_product(int16_t *p, keccak_sponge *s, const uint8_t *rho, unsigned first,
                               unsigned second, const uint8_t *packed) {
    uint8_t bytes[24];
    int16_t pair[2];
    unsigned n = 0;
    keccak_start(s, RATE_128);
    keccak_absorb(s, rho, HASH_LANES);
    keccak_finish(s, (uint8_t)first, (uint8_t)second, 2, KECCAK_SHAKE);
    for (;;) {
        keccak_squeeze(s, bytes, 3);
        for (const uint8_t *b = bytes; b < bytes + sizeof bytes; b += 3) {
            uint16_t candidates[2] = {unpack_low(b), unpack_high(b)};
            for (unsigned i = 0; i < 2; i++) {
                if (candidates[i] >= Q)
                    continue;
                pair[n & 1] = (int16_t)candidates[i];
                if ((n++ & 1) == 0)
                    continue;
                add_product(p, pair[0], pair[1], packed, n / 2 - 1);
                p += 2, packed += 3;
                if (n == N)
                    return;
            }
        }
    }
}

/* Adds the product of two packed polynomials. Returns bits whose highest is set if a coefficient of
   the first is not below q. */
static unsigned add_packed_product(int16_t *p, const uint8_t *a, const uint8_t *b) {
    unsigned high = 0;
    for (unsigned i = 0; i < N / 2; i++, p += 2, a += 3, b += 3) {
        uint16_t low = unpack_low(a), up = unpack_high(a);
        high |= (Q - 1u - low) | (Q - 1u - up);
        add_product(p, (int16_t)low, (int16_t)up, b, i);
    }
    return high;
}

/* Packs a polynomial (algorithm 5 with d = 12). */
static void pack(uint8_t *to, const int16_t *p) {
    for (unsigned i = 0; i < N; i += 2, to += 3) {
        uint16_t low = canonical(p[i]), up = canonical(p[i + 1]);
        to[0] = (uint8_t)low;
        to[1] = (uint8_t)(low >> 8 | up << 4);
        to[2] = (uint8_t)(up >> 4);
    }
}
#endif

/* Where a ciphertext goes: written, or compared with what is there. */
typedef struct {
    uint8_t *to; /* null where it is compared */
    const uint8_t *with;
    unsigned difference;
} sink;

#ifdef MLKEM_DSP
#include "kem/ml-kem/mlkem-compression-dsp.h"
#else
static inline void put(sink *out, const uint8_t *bytes, unsigned length) {
    if (out->to != NULL) {
        for (unsigned i = 0; i < length; i++)
            *out->to++ = bytes[i];
    } else {
        for (unsigned i = 0; i < length; i++)
            out->difference |= (unsigned)(bytes[i] ^ *out->with++);
    }
}

/* Compresses a polynomial to d bits a coefficient (FIPS 203, equation 4.7) and packs it. Inlined
   where d is known. */
static inline void put_compressed(sink *out, const int16_t *p, unsigned d) {
    uint8_t bytes[11];
    uint16_t c[8];
    for (unsigned i = 0; i < N; i += 8) {
        for (unsigned j = 0; j < 8; j++)
            c[j] = compress(*p++, d);
        if (d == 4) {
            for (unsigned j = 0; j < 4; j++)
                bytes[j] = (uint8_t)(c[2 * j] | c[2 * j + 1] << 4);
        } else if (d == 5) {
            bytes[0] = (uint8_t)(c[0] | c[1] << 5);
            bytes[1] = (uint8_t)(c[1] >> 3 | c[2] << 2 | c[3] << 7);
            bytes[2] = (uint8_t)(c[3] >> 1 | c[4] << 4);
            bytes[3] = (uint8_t)(c[4] >> 4 | c[5] << 1 | c[6] << 6);
            bytes[4] = (uint8_t)(c[6] >> 2 | c[7] << 3);
        } else if (d == 10) {
            for (unsigned j = 0; j < 2; j++) {
                const uint16_t *e = c + 4 * j;
                uint8_t *b = bytes + 5 * j;
                b[0] = (uint8_t)e[0];
                b[1] = (uint8_t)(e[0] >> 8 | e[1] << 2);
                b[2] = (uint8_t)(e[1] >> 6 | e[2] << 4);
                b[3] = (uint8_t)(e[2] >> 4 | e[3] << 6);
                b[4] = (uint8_t)(e[3] >> 2);
            }
        } else {
            bytes[0] = (uint8_t)c[0];
            bytes[1] = (uint8_t)(c[0] >> 8 | c[1] << 3);
            bytes[2] = (uint8_t)(c[1] >> 5 | c[2] << 6);
            bytes[3] = (uint8_t)(c[2] >> 2);
            bytes[4] = (uint8_t)(c[2] >> 10 | c[3] << 1);
            bytes[5] = (uint8_t)(c[3] >> 7 | c[4] << 4);
            bytes[6] = (uint8_t)(c[4] >> 4 | c[5] << 7);
            bytes[7] = (uint8_t)(c[5] >> 1);
            bytes[8] = (uint8_t)(c[5] >> 9 | c[6] << 2);
            bytes[9] = (uint8_t)(c[6] >> 6 | c[7] << 5);
            bytes[10] = (uint8_t)(c[7] >> 3);
        }
        put(out, bytes, d);
    }
}

/* Unpacks and decompresses a polynomial (equation 4.8). The ciphertext is public. Inlined where d
   is known. */
static inline void decompressed(int16_t *p, const uint8_t *from, unsigned d) {
    for (unsigned i = 0; i < N; i += 8, from += d) {
        for (unsigned j = 0; j < 8; j++) {
            const uint8_t *b = from + d * j / 8;
            unsigned shift = d * j % 8, c = b[0] >> shift;
            if (shift + d > 8)
                c |= (unsigned)b[1] << (8 - shift);
            if (shift + d > 16)
                c |= (unsigned)b[2] << (16 - shift);
            c &= (1u << d) - 1;
            *p++ = (int16_t)(((uint32_t)c * Q + (1u << (d - 1))) >> d);
        }
    }
}

/* Adds the polynomial of a message (equation 4.8 with d = 1). */
static void add_message(int16_t *p, const uint8_t *message) {
    for (unsigned i = 0; i < N; i++)
        p[i] = (int16_t)(p[i] + message_term(message[i / 8] >> i % 8));
}

/* The message in u - p, compressed to a bit a coefficient. */
static void get_message(uint8_t *message, const int16_t *u, const int16_t *p) {
    for (unsigned i = 0; i < N; i += 8) {
        unsigned byte = 0;
        for (unsigned j = 0; j < 8; j++) {
            unsigned bit = compress((int16_t)(u[i + j] - p[i + j]), 1);
            __asm__("" : "+r"(bit)); /* hides that there are two values: compilers would branch */
            byte |= bit << j;
        }
        message[i / 8] = (uint8_t)byte;
    }
}

/* p += a packed polynomial times u, using y. */
static void add_product_with(int16_t *p, const uint8_t *packed, const int16_t *u, uint8_t *y) {
    pack(y, u);
    add_packed_product(p, packed, y);
}
#endif

/* Not inlined, so that their frames are not below all that encryption calls. */
CRYPTO_NOT_INLINE static void put_u(sink *out, const int16_t *p) {
    put_compressed(out, p, MLKEM_DU);
}

CRYPTO_NOT_INLINE static void put_v(sink *out, const int16_t *p) {
    put_compressed(out, p, MLKEM_DV);
}

/* K-PKE.Encrypt (algorithm 14). Returns bits: 0 to 7 are 0 if what was compared is equal, the
   highest is set if the public key is invalid. */
CRYPTO_NOT_INLINE static unsigned encrypt(keccak_sponge *s, sink out, const uint8_t *public_key,
                                          const uint8_t *message, const uint8_t *seed) {
    const uint8_t *rho = public_key + VECTOR_BYTES;
    int16_t p[N];
    uint8_t y[VECTOR_BYTES + 1]; /* the last may be read with others, and is not used */
    crypto_public((void *)(uintptr_t)rho, 32);
    for (unsigned i = 0; i < MLKEM_K; i++) {
        clear(p);
        start_noise(s, seed, (uint8_t)i);
        add_noise(p, s, MLKEM_ETA1);
        transform(p);
        pack(y + 384 * i, p);
    }
    for (unsigned i = 0; i < MLKEM_K; i++) {
        clear(p);
        for (unsigned j = 0; j < MLKEM_K; j++)
            add_matrix_product(p, s, rho, i, j, y + 384 * j);
        transform_back(p);
        start_noise(s, seed, (uint8_t)(MLKEM_K + i));
        add_noise(p, s, 2);
        put_u(&out, p);
    }
    unsigned high = 0;
    clear(p);
    for (unsigned i = 0; i < MLKEM_K; i++)
        high |= add_packed_product(p, public_key + 384 * i, y + 384 * i);
    transform_back(p);
    start_noise(s, seed, 2 * MLKEM_K);
    add_noise(p, s, 2);
    add_message(p, message);
    put_v(&out, p);
    crypto_wipe(p, sizeof p);
    crypto_wipe(y, sizeof y);
    const unsigned top = 1u << (8 * sizeof high - 1);
    return (high & top) | out.difference;
}

/* K-PKE.Decrypt (algorithm 15). */
CRYPTO_NOT_INLINE static void decrypt(uint8_t *message, const uint8_t *private_key,
                                      const uint8_t *ciphertext) {
    int16_t p[N], u[N];
    uint8_t y[PACKED_BYTES];
    clear(p);
    for (unsigned i = 0; i < MLKEM_K; i++) {
        decompressed(u, ciphertext, MLKEM_DU);
        ciphertext += 32 * MLKEM_DU;
        transform(u);
        add_product_with(p, private_key + 384 * i, u, y);
    }
    transform_back(p);
    decompressed(u, ciphertext, MLKEM_DV);
    get_message(message, u, p);
    crypto_wipe(p, sizeof p);
    crypto_wipe(u, sizeof u);
    crypto_wipe(y, sizeof y);
}

/* ML-KEM.KeyGen_internal (algorithm 16) over K-PKE.KeyGen (algorithm 13). */
crypto_status mlkem_keygen(uint8_t *public_key, uint8_t *private_key, const uint8_t *seed) {
    keccak_sponge s;
    uint8_t seeds[64]; /* rho, sigma */
    int16_t p[N];
    keccak_start(&s, RATE_512);
    keccak_absorb(&s, seed, HASH_LANES);
    keccak_finish(&s, MLKEM_K, 0, 1, KECCAK_SHA3);
    keccak_squeeze(&s, seeds, 2 * HASH_LANES);
    crypto_public(seeds, 32);
    for (unsigned i = 0; i < MLKEM_K; i++) {
        clear(p);
        start_noise(&s, seeds + 32, (uint8_t)i);
        add_noise(p, &s, MLKEM_ETA1);
        transform(p);
        pack(private_key + 384 * i, p);
    }
    for (unsigned i = 0; i < MLKEM_K; i++) {
        clear(p);
        start_noise(&s, seeds + 32, (uint8_t)(MLKEM_K + i));
        add_noise(p, &s, MLKEM_ETA1);
        transform(p);
        scale(p, 1); /* as the products are */
        for (unsigned j = 0; j < MLKEM_K; j++)
            add_matrix_product(p, &s, seeds, j, i, private_key + 384 * j);
        scale(p, R_SQUARED);
        pack(public_key + 384 * i, p);
    }
    for (unsigned i = 0; i < 32; i++)
        public_key[VECTOR_BYTES + i] = seeds[i];
    private_key += VECTOR_BYTES;
    for (unsigned i = 0; i < MLKEM_PUBLIC_BYTES; i++)
        *private_key++ = public_key[i];
    keccak_start(&s, RATE_256);
    keccak_absorb(&s, public_key, MLKEM_PUBLIC_BYTES / 8);
    keccak_finish(&s, 0, 0, 0, KECCAK_SHA3);
    keccak_squeeze(&s, private_key, HASH_LANES);
    for (unsigned i = 0; i < 32; i++)
        private_key[32 + i] = seed[32 + i];
    crypto_wipe(&s, sizeof s);
    crypto_wipe(seeds, sizeof seeds);
    crypto_wipe(p, sizeof p);
    return CRYPTO_OK;
}

/* (shared, seed) = G(message, H(public key)) (algorithm 17, line 1). */
static void derive(uint8_t *shared, uint8_t *seed, keccak_sponge *s, const uint8_t *message,
                   const uint8_t *hash) {
    keccak_start(s, RATE_512);
    keccak_absorb(s, message, HASH_LANES);
    keccak_absorb(s, hash, HASH_LANES);
    keccak_finish(s, 0, 0, 0, KECCAK_SHA3);
    keccak_squeeze(s, shared, HASH_LANES);
    keccak_squeeze(s, seed, HASH_LANES);
}

/* ML-KEM.Encaps_internal (algorithm 17). */
crypto_status mlkem_encapsulate(uint8_t *ciphertext, uint8_t *shared, const uint8_t *public_key,
                                const uint8_t *random) {
    keccak_sponge s;
    uint8_t seed[32];
    keccak_start(&s, RATE_256);
    keccak_absorb(&s, public_key, MLKEM_PUBLIC_BYTES / 8);
    keccak_finish(&s, 0, 0, 0, KECCAK_SHA3);
    keccak_squeeze(&s, seed, HASH_LANES);
    derive(shared, seed, &s, random, seed);
    const sink out = {ciphertext, NULL, 0};
    int invalid = encrypt(&s, out, public_key, random, seed) != 0;
    if (invalid) { /* public: whether the public key is valid */
        crypto_wipe(shared, MLKEM_SHARED_BYTES);
        crypto_wipe(ciphertext, MLKEM_CIPHERTEXT_BYTES);
    }
    crypto_wipe(&s, sizeof s);
    crypto_wipe(seed, sizeof seed);
    return invalid ? CRYPTO_BAD_TAG : CRYPTO_OK; /* public: the same */
}

/* ML-KEM.Decaps_internal (algorithm 18). */
crypto_status mlkem_decapsulate(uint8_t *shared, const uint8_t *ciphertext,
                                const uint8_t *private_key) {
    const uint8_t *public_key = private_key + VECTOR_BYTES;
    const uint8_t *hash = public_key + MLKEM_PUBLIC_BYTES, *z = hash + 32;
    keccak_sponge s;
    uint8_t message[32], seed[32];
    decrypt(message, private_key, ciphertext);
    derive(shared, seed, &s, message, hash);
    const sink out = {NULL, ciphertext, 0};
    unsigned difference = encrypt(&s, out, public_key, message, seed) & 0xff;
    uint8_t mask = (uint8_t)crypto_mask(crypto_not_zero(difference));
    uint8_t *other = seed; /* K bar, the secret for a ciphertext that differs */
    keccak_start(&s, RATE_256);
    keccak_absorb(&s, z, HASH_LANES);
    keccak_absorb(&s, ciphertext, MLKEM_CIPHERTEXT_BYTES / 8);
    keccak_finish(&s, 0, 0, 0, KECCAK_SHAKE);
    keccak_squeeze(&s, other, HASH_LANES);
    for (unsigned i = 0; i < 32; i++)
        shared[i] ^= mask & (shared[i] ^ other[i]);
    crypto_wipe(&s, sizeof s);
    crypto_wipe(message, sizeof message);
    crypto_wipe(seed, sizeof seed);
    return CRYPTO_OK;
}
