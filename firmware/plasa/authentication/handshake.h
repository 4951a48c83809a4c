/* Bootstrapping from a pre-shared secret K: mutual authentication of a mote A and the authority S,
   and fresh keys, in three messages of 93 bytes in all.

     A to S  hello         kind 1, A 2, Na 16                                              19 bytes
     S to A  challenge     kind 1, Ns 16, K{ group KEK 16, its identifier 1, epoch 4 } 37  54 bytes
     A to S  confirmation  kind 1, A 2, identifier 1, Kas{ } 16                            20 bytes

   K{ } is Ascon-AEAD128 under K with nonce Ns, over what is inside and kind, A, S, Na. Kas, the
   pairwise key of the two, is derived from K, Ns, A, S and Na. Each side has proved that it knows K
   by a tag over the other's fresh nonce, and in another role than the other's: neither an old
   message nor its own sent back is taken. */
#ifndef HANDSHAKE_H
#define HANDSHAKE_H

#include "messages.h"

enum {
    HANDSHAKE_KEYS_BYTES = KEYDB_KEY_BYTES + 1 + 4,
    HELLO_BYTES = 1 + 2 + MESSAGE_NONCE_BYTES,
    CHALLENGE_BYTES = 1 + MESSAGE_NONCE_BYTES + HANDSHAKE_KEYS_BYTES + MESSAGE_TAG_BYTES,
    CONFIRMATION_BYTES = 1 + 2 + 1 + MESSAGE_TAG_BYTES
};

_Static_assert(HELLO_BYTES + CHALLENGE_BYTES + CONFIRMATION_BYTES == 93, "bytes on air");

/* What a handshake is about: both sides have the same. */
typedef struct {
    uint16_t mote, authority;
    uint8_t mote_nonce[MESSAGE_NONCE_BYTES];
} handshake;

/* The sealing of a challenge under the secret, and what Kas is derived by. */
enum { HANDSHAKE_OPEN_BYTES = 1 + 2 + 2 + MESSAGE_NONCE_BYTES };
message_sealing handshake_challenge(const handshake *h, uint8_t open[HANDSHAKE_OPEN_BYTES],
                                    const uint8_t *secret, uint8_t challenge[CHALLENGE_BYTES]);
void handshake_derive(const message_sealing *challenge, uint8_t key[KEYDB_KEY_BYTES]);

/* The sealing of a confirmation under Kas. */
message_sealing handshake_confirmation(const uint8_t *key, const uint8_t *authority_nonce,
                                       uint8_t confirmation[CONFIRMATION_BYTES]);

#endif
