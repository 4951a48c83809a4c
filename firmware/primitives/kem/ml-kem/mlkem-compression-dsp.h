/* Compression by words, and what encryption and decryption do to messages, for ARMv7E-M; in place
   of the portable code of mlkem-body.h, which includes it. */

/* Statements for 32 coefficients, whose number is a constant in each. */
#define FOR_EIGHT(f, j) f(j) f(j + 1) f(j + 2) f(j + 3) f(j + 4) f(j + 5) f(j + 6) f(j + 7)
#define FOR_32(f) FOR_EIGHT(f, 0) FOR_EIGHT(f, 8) FOR_EIGHT(f, 16) FOR_EIGHT(f, 24)

/* Compresses a polynomial to d bits a coefficient (FIPS 203, equation 4.7) and packs it, 32
   coefficients in d words at a time. Inlined where d is known. */
__attribute__((always_inline)) static inline void put_compressed(sink *out, const int16_t *p,
                                                                 unsigned d) {
    uint8_t *to = out->to;
    const uint8_t *with = out->with;
    uint32_t difference = 0;
    for (const int16_t *end = p + N; p < end; p += 32) {
        uint32_t word = 0, c;
#define PUT_ONE(j)                                                                                 \
    c = compress(p[j], d);                                                                         \
    word |= c << (j) * d % 32;                                                                     \
    if ((j) * d % 32 + d >= 32) {                                                                  \
        if (to != NULL)                                                                            \
            crypto_store_word(to, word), to += 4;                                                  \
        else                                                                                       \
            difference |= word ^ crypto_load_word(with), with += 4;                                \
        word = (j) * d % 32 + d > 32 ? c >> (32 - (j) * d % 32) % 32 : 0;                          \
    }
        FOR_32(PUT_ONE)
#undef PUT_ONE
    }
    out->to = to;
    out->with = with;
    difference |= difference >> 16;
    out->difference |= (difference | difference >> 8) & 0xff;
}

/* Unpacks and decompresses a polynomial (equation 4.8). The ciphertext is public. Inlined where d
   is known. */
__attribute__((always_inline)) static inline void decompressed(int16_t *p, const uint8_t *from,
                                                               unsigned d) {
    const uint32_t mask = (1u << d) - 1;
    two *to = (two *)p;
    for (const two *end = to + N / 2; to < end; from += 4 * d) {
        uint32_t word = 0, even = 0, c;
#define GET_ONE(j)                                                                                 \
    c = (j) * d % 32 == 0 ? 0 : word >> (j) * d % 32;                                              \
    if ((j) * d % 32 == 0 || (j) * d % 32 + d > 32) {                                              \
        word = crypto_load_word(from + (j) * d / 32 * 4 + ((j) * d % 32 == 0 ? 0 : 4));            \
        c |= (j) * d % 32 == 0 ? word : word << (32 - (j) * d % 32) % 32;                          \
    }                                                                                              \
    c = ((c & mask) * Q + (1u << (d - 1))) >> d;                                                   \
    if ((j) % 2 == 0)                                                                              \
        even = c;                                                                                  \
    else                                                                                           \
        *to++ = even | c << 16;
        FOR_32(GET_ONE)
#undef GET_ONE
    }
}

/* Adds the polynomial of a message (equation 4.8 with d = 1). */
static void add_message(int16_t *coefficients, const uint8_t *message) {
    two *p = (two *)coefficients;
    for (const uint8_t *end = message + 32; message < end; message++) {
        uint32_t bits = *message;
        for (unsigned i = 0; i < 4; i++, p++, bits >>= 2)
            *p = plus(*p, ((bits & 1) | (bits & 2) << 15) * ((Q + 1) / 2));
    }
}

/* The message in u - p, compressed to a bit a coefficient: 1 where what is congruent to it, between
   -q/2 and q/2, has a size of at least 833 (equation 4.7 with d = 1). */
static void get_message(uint8_t *message, const int16_t *u, const int16_t *p) {
    const two *a = (const two *)u, *b = (const two *)p;
    const two most = 832 | 832 << 16;
    for (const uint8_t *end = message + 32; message < end; message++) {
        uint32_t byte = 0;
        for (unsigned i = 0; i < 8; i += 2) {
            two d = times(minus(*a++, *b++), TIMES_1);
            uint32_t signs = (minus(most, d) | plus(most, d)) & 0x80008000;
            byte |= (signs >> 15 | signs >> 30) << i;
        }
        *message = (uint8_t)byte;
    }
}

/* p += a packed polynomial times u. */
static void add_product_with(int16_t *coefficients, const uint8_t *packed, const int16_t *u,
                             uint8_t *unused) {
    two *p = (two *)coefficients;
    const two *b = (const two *)u;
    (void)unused;
    for (const uint32_t *root = stored_roots + 64; root < stored_roots + 128; packed += 6, b += 2) {
        uint32_t w = *root++;
        add_pair(p++, unpack_two(packed), times(b[0], TIMES_1), w);
        add_pair(p++, unpack_two(packed + 3), times(b[1], TIMES_1), 0 - w);
    }
}
