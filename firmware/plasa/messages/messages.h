/* What the modules' own messages have in common. Each begins with a byte that cannot be a control
   field of STaR, since its label is no flow's; numbers are little-endian. */
#ifndef MESSAGES_H
#define MESSAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "keydb.h"

enum {
    MESSAGE_LABEL = 7, /* the three highest bits */
    MESSAGE_HELLO = 0xe1,
    MESSAGE_CHALLENGE = 0xe2,
    MESSAGE_CONFIRMATION = 0xe3,
    MESSAGE_RENEWAL = 0xe4,
    MESSAGE_REQUEST = 0xe5,
    MESSAGE_ANSWER = 0xe6,
    MESSAGE_RECONFIGURATION = 0xe7,

    MESSAGE_NONCE_BYTES = 16,
    MESSAGE_TAG_BYTES = 16
};

/* The last byte of a nonce says what it is used for, so that no two uses under one key meet; on air
   it is 0. */
typedef enum {
    USE_CHALLENGE = 0,
    USE_DERIVATION = 1,
    USE_CONFIRMATION = 2,
    USE_RENEWAL = 3,
    USE_RATCHET = 4,
    USE_REQUEST = 5,
    USE_ANSWER = 6,
    USE_RECONFIGURATION = 7
} message_use;

/* A message, or part of one, under Ascon-AEAD128: `text` of `length` bytes is sealed in place, and
   its tag follows it. */
typedef struct {
    const uint8_t *key;
    const uint8_t *nonce; /* MESSAGE_NONCE_BYTES, of which the last is not looked at */
    message_use use;
    const uint8_t *open; /* authenticated, not encrypted */
    uint8_t open_bytes;
    uint8_t *text;
    uint8_t length;
} message_sealing;

void message_seal(const message_sealing *m);

/* False: it is not genuine, and `text` has been overwritten. */
bool message_unseal(const message_sealing *m);

/* A key that follows from another and from what both sides said: 16 bytes. */
void message_derive(const message_sealing *m, uint8_t key[KEYDB_KEY_BYTES]);

uint8_t *message_put32(uint8_t *at, uint32_t number);
uint32_t message_get32(const uint8_t *at);

#endif
