/* MonkeyWrap around the assembly in keccak-p400.S. */
#include "ketje.h"

/* Each round reads one of the two states and writes the other. */
typedef struct {
    uint16_t lanes[2][25];
    unsigned current;
} keccak_state;

/* Runs the last `rounds` of the 20 rounds. `current` selects the initial state; returns the one
   that holds the result. */
unsigned keccak_p400_rounds(uint16_t *lanes, unsigned rounds, unsigned current);

static uint8_t *keccak_bytes(keccak_state *s) {
    return (uint8_t *)(s->current ? s->lanes[1] : s->lanes[0]);
}

static void keccak_p400(keccak_state *s, unsigned rounds) {
    s->current = keccak_p400_rounds(s->lanes[0], rounds, s->current);
}

#include "aead/ketje/ketje-body.h"
