#include "authority.h"

#include "crypto.h"
#include "fresh.h"
#include "provisioning.h"

/* Identifiers of motes' pairwise keys: out of the way of the group's. */
enum { FIRST_ID = 0x80 };

static uint16_t motes[AUTHORITY_MOTES]; /* 0: nobody yet */

static struct {
    uint16_t mote; /* 0: none is under way */
    uint8_t nonce[MESSAGE_NONCE_BYTES];
    uint8_t key[KEYDB_KEY_BYTES];
} pending;

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
    handshake h = {.mote = from, .authority = self};
    for (uint8_t i = 0; i < MESSAGE_NONCE_BYTES; i++)
        h.mote_nonce[i] = hello[3 + i];
    challenge[0] = MESSAGE_CHALLENGE;
    fresh_bytes(challenge + 1);
    challenge[MESSAGE_NONCE_BYTES] = 0;
    for (uint8_t i = 0; i < MESSAGE_NONCE_BYTES; i++)
        pending.nonce[i] = challenge[1 + i];
    pending.mote = from;

    uint8_t secret[PROVISIONED_BYTES], open[HANDSHAKE_OPEN_BYTES];
    provisioned_secret(from, secret);
    message_sealing sealed = handshake_challenge(&h, open, secret, challenge);
    handshake_derive(&sealed, pending.key);
    for (uint8_t i = 0; i < KEYDB_KEY_BYTES; i++)
        sealed.text[i] = group[i];
    sealed.text[KEYDB_KEY_BYTES] = KEY_GROUP;
    message_put32(sealed.text + KEYDB_KEY_BYTES + 1, epoch);
    message_seal(&sealed);
    crypto_wipe(secret, sizeof secret);
    return true;
}

bool authority_confirmation(uint16_t from, uint8_t *confirmation, uint8_t length) {
    if (length != CONFIRMATION_BYTES || confirmation[0] != MESSAGE_CONFIRMATION || from == 0 ||
        from != pending.mote || from != (uint16_t)(confirmation[1] | confirmation[2] << 8) ||
        confirmation[3] != KEY_GROUP)
        return false;
    message_sealing sealed = handshake_confirmation(pending.key, pending.nonce, confirmation);
    if (!message_unseal(&sealed))
        return false;
    uint8_t place = place_of(from);
    if (place == AUTHORITY_MOTES)
        place = place_of(0);
    bool is_kept = place < AUTHORITY_MOTES &&
                   keydb_set((uint8_t)(FIRST_ID + place), KEYDB_PAIRWISE, pending.key) == KEYDB_OK;
    if (is_kept)
        motes[place] = from;
    crypto_wipe(&pending, sizeof pending);
    return is_kept;
}
