/* Makes a key pair of ML-DSA-44 from a seed of 32 bytes, signs, and prints public key and
   signature: a whole program for a chip of 8 KB of RAM. The marker is high while it makes each. The
   seed protects nothing. */
#include "console.h"
#include "hal.h"
#include "mldsa.h"

static const uint8_t SEED[MLDSA_SECRET_BYTES] = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10,
                                                 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21,
                                                 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
static const uint8_t MESSAGE[] = {'j', 'o', 'u', 'l', 'e', 'm', 'a', 'r', 'k'};
/* The deterministic variant (FIPS 204, section 3.4), so that each byte can be checked. */
static const uint8_t NO_RANDOMNESS[MLDSA_SEED_BYTES];

static uint8_t public_key[MLDSA_PUBLIC_BYTES], signature[MLDSA_SIGNATURE_BYTES];

static void show(const char *what, const uint8_t *bytes, size_t length) {
    console_text(what);
    for (size_t i = 0; i < length; i++)
        console_hex(bytes[i], 2);
    console_text("\n");
}

int main(void) {
    hal_init();
    hal_marker_high();
    mldsa_keygen(public_key, SEED);
    hal_marker_low();
    show("key ", public_key, sizeof public_key);
    hal_marker_high();
    mldsa_sign(signature, SEED, public_key, NO_RANDOMNESS, MESSAGE, sizeof MESSAGE);
    hal_marker_low();
    show("signature ", signature, sizeof signature);
    console_text("done\n");
    for (;;)
        continue;
}
