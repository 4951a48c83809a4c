/* Calls the functions of P256-Cortex-M4 and X25519-Cortex-M4 between two readings of the cycle
 * counter, with the instruction cache on as their author has it. What one function makes, another
 * one has to accept. */
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "p256-cortex-m4.h"
#include "x25519-cortex-m4.h"

#define CYCCNT (*(volatile uint32_t *)0xe0001004)
#define ICACHECNF (*(volatile uint32_t *)0x4001e540)

uint32_t cycles[6];
uint32_t right;

#define TIME(place, call)                                                                          \
    do {                                                                                           \
        uint32_t before = CYCCNT;                                                                  \
        call;                                                                                      \
        cycles[place] = CYCCNT - before - 1;                                                       \
    } while (0)

static uint32_t one[8] = {0x12345678, 0x9abcdef0, 0x13579bdf, 0x2468ace0,
                          0xdeadbeef, 0xcafebabe, 0x01234567, 0x5a5a5a5a};
static uint32_t other[8] = {0x32345678, 0x9abcdef0, 0x13579bdf, 0x2468ace0,
                            0x1eadbeef, 0xcafebabe, 0x01234567, 0x6a5a5a5a};
static uint32_t x[8], y[8], other_x[8], other_y[8], r[8], s[8];
static uint8_t hash[32] = {1, 2, 3, 4}, shared[2][32], octets[33], public[2][32];

static bool p256(void) {
    bool made, signed_it, verified, agreed, found;
    TIME(0, made = p256_keygen(x, y, one));
    if (!made || !p256_keygen(other_x, other_y, other))
        return false;
    TIME(1, signed_it = p256_sign(r, s, hash, sizeof hash, one, other));
    TIME(2, verified = p256_verify(x, y, hash, sizeof hash, r, s));
    TIME(3, agreed = p256_ecdh_calc_shared_secret(shared[0], one, other_x, other_y));
    if (!agreed || !p256_ecdh_calc_shared_secret(shared[1], other, x, y))
        return false;
    p256_point_to_octet_string_compressed(octets, x, y);
    TIME(4, found = p256_octet_string_to_point(other_x, other_y, octets, sizeof octets));
    hash[0] ^= 1;
    bool forged = p256_verify(x, y, hash, sizeof hash, r, s);
    return signed_it && verified && !forged && memcmp(shared[0], shared[1], 32) == 0 && found &&
           memcmp(x, other_x, sizeof x) == 0 && memcmp(y, other_y, sizeof y) == 0;
}

static bool x25519(void) {
    X25519_calc_public_key(public[0], (const uint8_t *)one);
    X25519_calc_public_key(public[1], (const uint8_t *)other);
    TIME(5, X25519_calc_shared_secret(shared[0], (const uint8_t *)one, public[1]));
    X25519_calc_shared_secret(shared[1], (const uint8_t *)other, public[0]);
    return memcmp(shared[0], shared[1], 32) == 0;
}

void run(void) {
    ICACHECNF = 1;
    right = (uint32_t)(p256() && x25519());
}
