/* The field of 2^255 - 19 elements in C, for any word size. The including file has defined
   FE_WORD_BITS, 16 or 32. With 16, a product of two words is one multiplication instruction; with
   32, it is one with a long result, whose time may depend on the operands (docs/primitives.md). */
#include "crypto.h"

#define FE_BYTES 32
#define FE_WORDS (256 / FE_WORD_BITS)

#if FE_WORD_BITS == 32
typedef uint32_t fe_word;
typedef uint64_t fe_double;
#else
typedef uint16_t fe_word;
typedef uint32_t fe_double;
#endif
typedef fe_word fe[FE_WORDS];

/* out = a + 38 top, for a small top; if that exceeds 256 bits, the rest is small. */
static void p25519_fold(fe out, const fe_word *a, fe_double top) {
    fe_double carry = top * 38;
    for (unsigned i = 0; i < FE_WORDS; i++, carry >>= FE_WORD_BITS) {
        carry += a[i];
        out[i] = (fe_word)carry;
    }
    out[0] = (fe_word)(out[0] + (fe_word)(carry * 38));
}

static void p25519_reduce(fe out, const fe_word product[2 * FE_WORDS]) {
    fe_double carry = 0;
    for (unsigned i = 0; i < FE_WORDS; i++, carry >>= FE_WORD_BITS) {
        carry += (fe_double)product[FE_WORDS + i] * 38 + product[i];
        out[i] = (fe_word)carry;
    }
    p25519_fold(out, out, carry);
}

static void p25519_multiply(fe out, const fe a, const fe b) {
    fe_word product[2 * FE_WORDS] = {0};
    for (unsigned i = 0; i < FE_WORDS; i++) {
        fe_word carry = 0;
        for (unsigned j = 0; j < FE_WORDS; j++) {
            fe_double sum = (fe_double)a[i] * b[j] + product[i + j] + carry;
            product[i + j] = (fe_word)sum;
            carry = (fe_word)(sum >> FE_WORD_BITS);
        }
        product[i + FE_WORDS] = carry;
    }
    p25519_reduce(out, product);
}

/* Products of two different words are computed once, then doubled; then the squares are added. */
static void p25519_square(fe out, const fe a) {
    fe_word product[2 * FE_WORDS] = {0}, high = 0;
    for (unsigned i = 0; i < FE_WORDS; i++) {
        fe_word carry = 0;
        for (unsigned j = i + 1; j < FE_WORDS; j++) {
            fe_double sum = (fe_double)a[i] * a[j] + product[i + j] + carry;
            product[i + j] = (fe_word)sum;
            carry = (fe_word)(sum >> FE_WORD_BITS);
        }
        product[i + FE_WORDS] = carry;
    }
    fe_double carry = 0;
    for (unsigned i = 0; i < FE_WORDS; i++) {
        fe_double square = (fe_double)a[i] * a[i];
        fe_word even = product[2 * i], odd = product[2 * i + 1];
        carry += (fe_double)(fe_word)(even << 1 | high) + (fe_word)square;
        product[2 * i] = (fe_word)carry;
        carry = (carry >> FE_WORD_BITS) + (fe_word)(odd << 1 | even >> (FE_WORD_BITS - 1)) +
                (fe_word)(square >> FE_WORD_BITS);
        product[2 * i + 1] = (fe_word)carry;
        carry >>= FE_WORD_BITS;
        high = odd >> (FE_WORD_BITS - 1);
    }
    p25519_reduce(out, product);
}

static void p25519_add(fe out, const fe a, const fe b) {
    fe_double carry = 0;
    for (unsigned i = 0; i < FE_WORDS; i++, carry >>= FE_WORD_BITS) {
        carry += (fe_double)a[i] + b[i];
        out[i] = (fe_word)carry;
    }
    p25519_fold(out, out, carry);
}

static void p25519_subtract(fe out, const fe a, const fe b) {
    fe_word borrow = 0;
    for (unsigned i = 0; i < FE_WORDS; i++) {
        fe_double difference = (fe_double)a[i] - b[i] - borrow;
        out[i] = (fe_word)difference;
        borrow = (fe_word)(difference >> FE_WORD_BITS) & 1;
    }
    /* 2^256 too much: subtract 38, and again if that borrows. */
    for (unsigned twice = 0; twice < 2; twice++) {
        borrow = (fe_word)(borrow * 38);
        for (unsigned i = 0; i < FE_WORDS; i++) {
            fe_double difference = (fe_double)out[i] - borrow;
            out[i] = (fe_word)difference;
            borrow = (fe_word)(difference >> FE_WORD_BITS) & 1;
        }
    }
}

__attribute__((unused)) static void p25519_multiply_a24(fe out, const fe a) {
    /* 121665 = 2^16 + 56129 */
    fe_word carry = 0;
    fe_double shifted = 0;
    for (unsigned i = 0; i < FE_WORDS; i++) {
#if FE_WORD_BITS == 32
        fe_double sum = (fe_double)a[i] * 121665u + carry;
#else
        fe_double sum = (fe_double)a[i] * 56129u + shifted + carry;
        shifted = a[i];
#endif
        out[i] = (fe_word)sum;
        carry = (fe_word)(sum >> FE_WORD_BITS);
    }
    p25519_fold(out, out, carry + shifted);
}

__attribute__((unused)) static void p25519_swap(void *a, void *b, uint32_t mask) {
    fe_word *x = a, *y = b;
    for (unsigned i = 0; i < 2 * FE_WORDS; i++) {
        fe_word differ = (x[i] ^ y[i]) & (fe_word)mask;
        x[i] ^= differ;
        y[i] ^= differ;
    }
}
