/* MonkeyWrap around the assembly in keccak-p400.S. */
#include "ketje.h"

enum { LANES = 25 };

/* Each round reads one of the two states in words and writes the other. `bytes` holds the whole
   state at first, then only the rate's lanes. */
typedef struct {
    uint32_t words[2][LANES];
    uint8_t bytes[2 * LANES];
    uint8_t current, started;
} keccak_state;

/* Runs the last `rounds` of the 20 rounds, alternating between the two states; in keccak-p400.S. */
void keccak_p400_rounds(const uint32_t from[LANES], uint32_t to[LANES], unsigned rounds);

/* Right rotation of each word as stored in the state; the rate's words have none. */
static const uint8_t turned[LANES] = {0, 0, 0,  13, 15, 4, 5, 3, 1,  2, 5, 11, 1,
                                      9, 2, 12, 4,  14, 4, 0, 3, 15, 8, 9, 6};

static uint8_t *keccak_bytes(keccak_state *s) {
    return s->bytes;
}

static uint32_t twice(uint32_t lane) {
    return (lane & 0xffff) | lane << 16;
}

static void keccak_p400(keccak_state *s, unsigned rounds) {
    uint32_t *words = s->words[s->current];
    if (s->started) {
        uint32_t low = crypto_load_word(s->bytes);
        words[0] = twice(low);
        words[1] = twice(low >> 16);
        words[2] = twice(crypto_load_word(s->bytes + 4));
    } else {
        for (size_t i = 0; i < LANES; i++) {
            uint32_t lane = twice(s->bytes[2 * i] | (uint32_t)s->bytes[2 * i + 1] << 8);
            words[i] = lane >> turned[i] | lane << (-turned[i] & 31);
        }
        s->started = 1;
    }
    keccak_p400_rounds(words, s->words[s->current ^ 1], rounds);
    s->current = (uint8_t)(s->current ^ (rounds & 1));
    words = s->words[s->current];
    crypto_store_word(s->bytes, (words[0] & 0xffff) | words[1] << 16);
    crypto_store_word(s->bytes + 4, words[2]);
}

#include "aead/ketje/ketje-body.h"
