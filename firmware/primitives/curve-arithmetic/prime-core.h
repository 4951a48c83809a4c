/* Curve arithmetic with the prefix ARITHMETIC(name), over a curve whose constants and field the
   including file has included; it uses the code of key agreements and signatures. */
#include "curve/prime.h"

static void load(fe out[2], const point *p) {
    fe_copy(out[0], p->x);
    fe_copy(out[1], p->y);
}

static void unload(point *out, const fe p[2]) {
    fe_copy(out->x, p[0]);
    fe_copy(out->y, p[1]);
    fe_copy(out->z, fe_one);
}

static void keep(fe out[3], const point *p) {
    fe_copy(out[0], p->x);
    fe_copy(out[1], p->y);
    fe_copy(out[2], p->z);
}

crypto_status ARITHMETIC(load)(ARITHMETIC(ctx) * ctx, const uint8_t *first, const uint8_t *second) {
    point p, q;
    if (!point_from_bytes(&p, first) || !point_from_bytes(&q, second))
        return CRYPTO_BAD_TAG;
    load(ctx->first, &p);
    load(ctx->second, &q);
    return CRYPTO_OK;
}

void ARITHMETIC(add)(ARITHMETIC(ctx) * ctx) {
    point p, sum;
    affine_point q;
    unload(&p, ctx->first);
    fe_copy(q.x, ctx->second[0]);
    fe_copy(q.y, ctx->second[1]);
    point_add_affine(&sum, &p, &q);
    keep(ctx->result, &sum);
}

void ARITHMETIC(double)(ARITHMETIC(ctx) * ctx) {
    point p;
    unload(&p, ctx->first);
    point_double(&p, &p);
    keep(ctx->result, &p);
}

/* k p, or k times the generator if p is null, with z = 1. */
static crypto_status multiple(fe out[3], const uint8_t *in, const point *p) {
    scalar k;
    point product;
    fe inverse, square;
    int good = scalar_from_secret(k, in, SECRET_BYTES);
    if (good) {
        point_times(&product, k, p);
        field_invert(inverse, product.z);
        fe_square(square, inverse);
        fe_multiply(out[0], product.x, square);
        fe_multiply(square, square, inverse);
        fe_multiply(out[1], product.y, square);
        fe_copy(out[2], fe_one);
        crypto_wipe(&product, sizeof product);
    }
    crypto_wipe(k, sizeof k);
    return good ? CRYPTO_OK : CRYPTO_BAD_TAG;
}

crypto_status ARITHMETIC(multiply)(ARITHMETIC(ctx) * ctx, const uint8_t *scalar) {
    point p;
    unload(&p, ctx->first);
    return multiple(ctx->result, scalar, &p);
}

crypto_status ARITHMETIC(multiply_base)(ARITHMETIC(ctx) * ctx, const uint8_t *scalar) {
    return multiple(ctx->result, scalar, NULL);
}

void ARITHMETIC(store)(const ARITHMETIC(ctx) * ctx, uint8_t *out) {
    point p;
    unload(&p, ctx->result);
    fe_copy(p.z, ctx->result[2]);
    point_to_bytes(out, out + FIELD_BYTES, &p);
}
