/* The functions of implementations laid out as for SUPERCOP (bench.cr.yp.to/call-*.html), and those
   that it has for them: names and arguments are that interface's. */
#ifndef SUPERCOP_H
#define SUPERCOP_H

/* A crypto_status: a function returned an error, or wrote another length. What gives no status here
   leaves the value returned in each byte then, which no oracle takes for an output. */
#define SUPERCOP_FAILED ((crypto_status)3)

int crypto_aead_encrypt(unsigned char *c, unsigned long long *clen, const unsigned char *m,
                        unsigned long long mlen, const unsigned char *ad, unsigned long long adlen,
                        const unsigned char *nsec, const unsigned char *npub,
                        const unsigned char *k);
int crypto_aead_decrypt(unsigned char *m, unsigned long long *mlen, unsigned char *nsec,
                        const unsigned char *c, unsigned long long clen, const unsigned char *ad,
                        unsigned long long adlen, const unsigned char *npub,
                        const unsigned char *k);
int crypto_hash(unsigned char *out, const unsigned char *in, unsigned long long inlen);
int crypto_auth(unsigned char *out, const unsigned char *in, unsigned long long inlen,
                const unsigned char *k);
int crypto_auth_verify(const unsigned char *h, const unsigned char *in, unsigned long long inlen,
                       const unsigned char *k);
int crypto_onetimeauth(unsigned char *out, const unsigned char *in, unsigned long long inlen,
                       const unsigned char *k);
int crypto_onetimeauth_verify(const unsigned char *h, const unsigned char *in,
                              unsigned long long inlen, const unsigned char *k);
int crypto_stream(unsigned char *c, unsigned long long clen, const unsigned char *n,
                  const unsigned char *k);
int crypto_stream_xor(unsigned char *c, const unsigned char *m, unsigned long long mlen,
                      const unsigned char *n, const unsigned char *k);

/* 0 if the bytes are equal, else -1, in the same time. */
#define SUPERCOP_VERIFY(bytes)                                                                     \
    static inline int crypto_verify_##bytes(const unsigned char *a, const unsigned char *b) {      \
        unsigned difference = 0;                                                                   \
        for (unsigned i = 0; i < bytes; i++)                                                       \
            difference |= (unsigned)(a[i] ^ b[i]);                                                 \
        return -(int)((0u - difference) >> (8 * sizeof difference - 1));                           \
    }

SUPERCOP_VERIFY(8)
SUPERCOP_VERIFY(16)
SUPERCOP_VERIFY(32)

#undef SUPERCOP_VERIFY

#endif
