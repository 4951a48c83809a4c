/* The modules' own messages: AES-128-CCM (RFC 3610) with tags of 16 bytes, L = 2. Each is a kind,
   an open part (the kind is its first byte), a text that is encrypted in place, and the tag; a
   kind's lengths are fixed. A nonce is 12 bytes and the kind, so that no two kinds under one key
   meet. Kinds cannot be control fields of STaR, since their label is no flow's; numbers are
   little-endian. */
#ifndef MESSAGES_H
#define MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "keydb.h"

enum {
    MESSAGE_HELLO = 0xe1,
    MESSAGE_CHALLENGE = 0xe2,
    MESSAGE_CONFIRMATION = 0xe3,
    MESSAGE_RENEWAL = 0xe4,
    MESSAGE_REQUEST = 0xe5,
    MESSAGE_ANSWER = 0xe6,
    MESSAGE_RECONFIGURATION = 0xe7,
    MESSAGE_DERIVATION = 0xe8, /* never sent: its tag is a key */

    MESSAGE_FRESH_BYTES = 16, /* drawn by one side, so that the other's answer is new */
    MESSAGE_NONCE_BYTES = 12,
    MESSAGE_TAG_BYTES = 16
};

/* Bytes of the open parts. */
enum {
    HELLO_BYTES = 1 + 2 + MESSAGE_FRESH_BYTES,
    CHALLENGE_OPEN_BYTES = 1 + MESSAGE_FRESH_BYTES,
    CONFIRMATION_OPEN_BYTES = 1 + 2 + 1,
    RENEWAL_OPEN_BYTES = 1 + 8 + 1 + 1 + 4,
    REQUEST_OPEN_BYTES = 1 + 1 + MESSAGE_FRESH_BYTES,
    RECONFIGURATION_OPEN_BYTES = 1 + 1 + 1 + 1 + 4,
    DERIVATION_OPEN_BYTES = 1 + 2 + 2 + 2 * MESSAGE_FRESH_BYTES
};

/* And of texts: a key, and what is told with it. */
enum { CHALLENGE_TEXT_BYTES = KEYDB_KEY_BYTES + 1 + 4, RENEWAL_TEXT_BYTES = KEYDB_KEY_BYTES };

/* Whether it has a kind and that kind's length. */
bool message_is(uint8_t kind, const uint8_t *message, uint8_t length);

/* Seals a message of the kind that its first byte says. Nobody seals two of a kind under one key
   and one nonce. */
void message_seal(uint8_t *message, const uint8_t nonce[MESSAGE_NONCE_BYTES], const uint8_t *key);

/* False: it is not genuine, and its text has been overwritten. */
bool message_unseal(uint8_t *message, const uint8_t nonce[MESSAGE_NONCE_BYTES], const uint8_t *key);

/* The key after a key, from which nothing leads back: AES of a block that CCM never encrypts. */
void message_ratchet(uint8_t key[KEYDB_KEY_BYTES]);

uint8_t *message_put32(uint8_t *at, uint32_t number);
uint32_t message_get32(const uint8_t *at);

#endif
