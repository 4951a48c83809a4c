/* Calls each routine of cortexm-AES between two readings of the cycle counter, in a loop as its
 * author does, so that arguments are ready before; the reading itself, one cycle, is not counted.
 */
#include <stddef.h>
#include <stdint.h>

#include "aes/target/CM3.h"

#define CYCCNT (*(volatile uint32_t *)0xe0001004)
#define TIMES(turns, place, call)                                                                  \
    for (int turn = 0; turn < (turns); turn++) {                                                   \
        uint32_t before = CYCCNT;                                                                  \
        call;                                                                                      \
        cycles[place] = CYCCNT - before - 1;                                                       \
    }
#define TIME(place, call) TIMES(64, place, call)

/* In RAM, though nothing writes them. */
#define IN_RAM __attribute__((section(".data"), aligned(4)))

/* FIPS 197, appendix C: the plaintext, and keys of which shorter ones are the beginning. */
static uint8_t in[16] IN_RAM = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                                0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};
static uint8_t key[32] IN_RAM = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15,
                                 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31};
static uint8_t round_keys[240] __attribute__((aligned(4)));

uint32_t cycles[12];
/* AES-128 and AES-256: by the loop, unrolled; and decrypted again by both. */
uint8_t out[8][16] __attribute__((aligned(4)));

void run(void) {
    TIME(0, CM3_1T_AES128_keyschedule_enc(round_keys, key));
    TIME(1, CM3_1T_AES_encrypt(round_keys, in, out[0], 10));
    TIME(2, CM3_1T_AES128_encrypt_unrolled(round_keys, in, out[1]));
    /* In place, so not again. */
    TIMES(1, 3, CM3_1T_AES_keyschedule_dec(round_keys, 10));
    TIME(4, CM3_1T_AES_decrypt(round_keys, out[0], out[2], 10));
    TIME(5, CM3_1T_AES128_decrypt_unrolled(round_keys, out[0], out[3]));
    TIME(6, CM3_1T_AES256_keyschedule_enc(round_keys, key));
    TIME(7, CM3_1T_AES_encrypt(round_keys, in, out[4], 14));
    TIME(8, CM3_1T_AES256_encrypt_unrolled(round_keys, in, out[5]));
    TIMES(1, 9, CM3_1T_AES_keyschedule_dec(round_keys, 14));
    TIME(10, CM3_1T_AES_decrypt(round_keys, out[4], out[6], 14));
    TIME(11, CM3_1T_AES256_decrypt_unrolled(round_keys, out[4], out[7]));
}
