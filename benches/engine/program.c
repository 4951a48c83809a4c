/* The work of the engine's speed benchmark: AES-128, SHA-256 and ChaCha20 in plain C, as a compiler
 * makes code of them, each fed with its own output. The results stay in `state`, so that two
 * engines can be compared. */
#include <stdint.h>

enum { ROUNDS = 400 };

struct state {
    uint8_t aes_key[176];
    uint8_t aes_block[16];
    uint32_t sha_hash[8];
    uint8_t sha_block[64];
    uint32_t chacha[16];
    uint32_t chacha_out[16];
} state;

static uint8_t sbox[256];

static uint8_t times2(uint8_t x) {
    return (uint8_t)(x << 1) ^ (x & 0x80 ? 0x1b : 0);
}

/* FIPS 197, section 5.1.1: inverse in GF(2^8), then an affine map; 3 generates the group. */
static void make_sbox(void) {
    uint8_t p = 1, q = 1;
    do {
        p = p ^ times2(p);
        q ^= (uint8_t)(q << 1);
        q ^= (uint8_t)(q << 2);
        q ^= (uint8_t)(q << 4);
        if (q & 0x80)
            q ^= 0x09;
        uint8_t x = q, r = q;
        for (int i = 0; i < 4; i++) {
            r = (uint8_t)(r << 1 | r >> 7);
            x ^= r;
        }
        sbox[p] = x ^ 0x63;
    } while (p != 1);
    sbox[0] = 0x63;
}

static void aes_expand(uint8_t w[176]) {
    uint8_t rcon = 1;
    for (int i = 16; i < 176; i += 4) {
        uint8_t t[4] = {w[i - 4], w[i - 3], w[i - 2], w[i - 1]};
        if (i % 16 == 0) {
            uint8_t first = t[0];
            t[0] = sbox[t[1]] ^ rcon;
            t[1] = sbox[t[2]];
            t[2] = sbox[t[3]];
            t[3] = sbox[first];
            rcon = times2(rcon);
        }
        for (int j = 0; j < 4; j++)
            w[i + j] = w[i + j - 16] ^ t[j];
    }
}

static void aes_encrypt(const uint8_t w[176], uint8_t s[16]) {
    uint8_t t[16];
    for (int i = 0; i < 16; i++)
        s[i] ^= w[i];
    for (int round = 1; round <= 10; round++) {
        for (int i = 0; i < 16; i++)
            t[i] = sbox[s[(i + 4 * (i & 3)) & 15]];
        for (int c = 0; c < 16; c += 4) {
            uint8_t all = t[c] ^ t[c + 1] ^ t[c + 2] ^ t[c + 3];
            for (int i = 0; i < 4; i++) {
                uint8_t x = t[c + i];
                if (round < 10)
                    x ^= all ^ times2(x ^ t[c + ((i + 1) & 3)]);
                s[c + i] = x ^ w[16 * round + c + i];
            }
        }
    }
}

static uint32_t rotate(uint32_t x, int n) {
    return x >> n | x << (32 - n);
}

/* FIPS 180-4, section 4.2.2. */
static const uint32_t sha_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static void sha_compress(uint32_t h[8], const uint8_t block[64]) {
    uint32_t w[64], v[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 |
               (uint16_t)(block[4 * i + 2] << 8 | block[4 * i + 3]);
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] = w[i - 16] + w[i - 7] + (rotate(a, 7) ^ rotate(a, 18) ^ a >> 3) +
               (rotate(b, 17) ^ rotate(b, 19) ^ b >> 10);
    }
    for (int i = 0; i < 8; i++)
        v[i] = h[i];
    for (int i = 0; i < 64; i++) {
        uint32_t a = v[0], e = v[4];
        uint32_t t = v[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) +
                     ((e & v[5]) ^ (~e & v[6])) + sha_constants[i] + w[i];
        uint32_t u = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) +
                     ((a & v[1]) ^ (a & v[2]) ^ (v[1] & v[2]));
        for (int j = 7; j > 0; j--)
            v[j] = v[j - 1];
        v[4] += t;
        v[0] = t + u;
    }
    for (int i = 0; i < 8; i++)
        h[i] += v[i];
}

static void quarter(uint32_t s[16], int a, int b, int c, int d) {
    s[a] += s[b], s[d] = rotate(s[d] ^ s[a], 16);
    s[c] += s[d], s[b] = rotate(s[b] ^ s[c], 20);
    s[a] += s[b], s[d] = rotate(s[d] ^ s[a], 24);
    s[c] += s[d], s[b] = rotate(s[b] ^ s[c], 25);
}

static void chacha_block(const uint32_t in[16], uint32_t out[16]) {
    for (int i = 0; i < 16; i++)
        out[i] = in[i];
    for (int i = 0; i < 10; i++) {
        quarter(out, 0, 4, 8, 12);
        quarter(out, 1, 5, 9, 13);
        quarter(out, 2, 6, 10, 14);
        quarter(out, 3, 7, 11, 15);
        quarter(out, 0, 5, 10, 15);
        quarter(out, 1, 6, 11, 12);
        quarter(out, 2, 7, 8, 13);
        quarter(out, 3, 4, 9, 14);
    }
    for (int i = 0; i < 16; i++)
        out[i] += in[i];
}

void work(void) {
    make_sbox();
    aes_expand(state.aes_key);
    for (int i = 0; i < ROUNDS; i++) {
        for (int j = 0; j < 4; j++)
            aes_encrypt(state.aes_key, state.aes_block);
        sha_compress(state.sha_hash, state.sha_block);
        for (int j = 0; j < 32; j++)
            state.sha_block[j] ^= (uint8_t)state.sha_hash[j & 7];
        chacha_block(state.chacha, state.chacha_out);
        state.chacha[12]++;
        state.chacha[4] ^= state.chacha_out[0];
    }
}
