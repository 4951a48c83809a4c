/* MonkeyWrap around the assembly in keccak-p400.S. */
#include "ketje.h"

/* Each round reads one of the two states and writes the other. */
typedef struct {
    uint16_t lanes[2][25];
    unsigned current;
} keccak_state;

/* The last `rounds` of the 20 rounds; `current` says where the state is at first, and where it is
   then is returned. */
unsigned keccak_p400_rounds(uint16_t *lanes, unsigned rounds, unsigned current);

static uint8_t *keccak_bytes(keccak_state *s) {
    return (uint8_t *)(s->current ? s->lanes[1] : s->lanes[0]);
}

static void keccak_p400(keccak_state *s, unsigned rounds) {
    s->current = keccak_p400_rounds(s->lanes[0], rounds, s->current);
}

#include "aead/ketje/ketje-body.h"
