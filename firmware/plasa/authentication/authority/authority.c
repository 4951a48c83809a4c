#include "authority.h"

#include <string.h>

#include "crypto.h"
#include "fresh.h"
#include "provisioning.h"

/* Identifiers of the motes' pairwise keys, apart from those of group keys. */
enum { FIRST_ID = 0x80 };

static uint16_t motes[AUTHORITY_MOTES]; /* 0: free */

/* Handshakes in progress. A new one replaces the oldest, so an attacker needs several forged hellos
   within one handshake to abort it. */
static struct {
    uint16_t mote; /* 0: none */
    handshake h;
} pending[AUTHORITY_PENDING];
static uint8_t next_pending;

static uint8_t place_of(uint16_t mote) {
    uint8_t place = 0;
    while (place < AUTHORITY_MOTES && motes[place] != mote)
        place++;
    return place;
}

uint8_t authority_key_id(uint16_t mote) {
    uint8_t place = place_of(mote);
    return mote != 0 && place < AUTHORITY_MOTES ? (uint8_t)(FIRST_ID + place) : 0;
}

bool authority_hello(uint16_t self, uint16_t from, const uint8_t *hello, uint8_t length,
                     uint32_t epoch, uint8_t challenge[CHALLENGE_BYTES]) {
    const uint8_t *group = keydb_get(KEY_GROUP, KEYDB_GROUP | KEYDB_KEK);
    if (length != HELLO_BYTES || hello[0] != MESSAGE_HELLO || from == 0 || group == 0 ||
        from != (uint16_t)(hello[1] | hello[2] << 8) ||
        (place_of(from) == AUTHORITY_MOTES && place_of(0) == AUTHORITY_MOTES))
        return false;
    handshake *h = &pending[next_pending].h;
    pending[next_pending].mote = from;
    next_pending = (uint8_t)(next_pending + 1) % AUTHORITY_PENDING;
    handshake_begin(h, from, self);
    memcpy(h->mote_fresh, hello + 3, MESSAGE_FRESH_BYTES);
    fresh_bytes(h->authority_fresh);
    handshake_derive(h);
    challenge[0] = MESSAGE_CHALLENGE;
    memcpy(challenge + 1, h->authority_fresh, MESSAGE_FRESH_BYTES);
    uint8_t *keys = challenge + CHALLENGE_OPEN_BYTES;
    memcpy(keys, group, KEYDB_KEY_BYTES);
    keys[KEYDB_KEY_BYTES] = KEY_GROUP;
    message_put32(keys + KEYDB_KEY_BYTES + 1, epoch);
    message_seal(challenge, challenge + 1, h->key);
    return true;
}

static bool admit(uint16_t mote, const handshake *h) {
    uint8_t place = place_of(mote);
    if (place == AUTHORITY_MOTES)
        place = place_of(0);
    if (place == AUTHORITY_MOTES ||
        keydb_set((uint8_t)(FIRST_ID + place), KEYDB_PAIRWISE, h->key) != KEYDB_OK)
        return false;
    motes[place] = mote;
    return true;
}

bool authority_confirmation(uint16_t from, uint8_t *confirmation, uint8_t length) {
    if (!message_is(MESSAGE_CONFIRMATION, confirmation, length) || from == 0 ||
        from != (uint16_t)(confirmation[1] | confirmation[2] << 8) || confirmation[3] != KEY_GROUP)
        return false;
    for (uint8_t i = 0; i < AUTHORITY_PENDING; i++) {
        handshake *h = &pending[i].h;
        if (pending[i].mote != from || !message_unseal(confirmation, h->authority_fresh, h->key))
            continue;
        bool is_kept = admit(from, h);
        crypto_wipe(&pending[i], sizeof pending[i]);
        return is_kept;
    }
    return false;
}
