/* A mote's keys, each with an identifier and its permitted use. All modules get their keys here, so
   that no key is stored twice. */
#ifndef KEYDB_H
#define KEYDB_H

#include <stdint.h>

enum { KEYDB_KEY_BYTES = 16 };

/* Identifiers that the modules agree on. */
enum {
    KEY_GROUP = 2,   /* group, KEK: protects renewals */
    KEY_MANAGER = 3, /* pairwise: agreed on by mote and authority */
    KEY_DATA = 4     /* group: first of the keys that protect data */
};

/* The use of a key: one of the first two, optionally with the third. */
enum {
    KEYDB_PAIRWISE = 1, /* shared with one other mote */
    KEYDB_GROUP = 2,    /* shared with all */
    KEYDB_KEK = 4       /* protects keys, never data */
};

typedef enum {
    KEYDB_OK = 0,
    KEYDB_FULL = 1,
    KEYDB_MISUSE = 2 /* identifier 0, invalid flags, or a use that differs from the stored key's */
} keydb_status;

/* Adds a key, or replaces the key with this identifier and overwrites the old one. */
keydb_status keydb_set(uint8_t id, uint8_t flags, const uint8_t key[KEYDB_KEY_BYTES]);

/* Returns the key with this identifier if its use matches, else null. It does not move until it is
   removed. */
const uint8_t *keydb_get(uint8_t id, uint8_t flags);

/* Overwrites and removes a key, if it exists. */
void keydb_remove(uint8_t id);

#endif
