/* The keys of a mote, each with an identifier and with what it may be used for. Every module finds
   its keys here, so that no key is there twice. */
#ifndef KEYDB_H
#define KEYDB_H

#include <stdint.h>

enum { KEYDB_KEY_BYTES = 16 };

/* Identifiers that the modules agree on. */
enum {
    KEY_GROUP = 2,   /* group, KEK: what renewals come under */
    KEY_MANAGER = 3, /* pairwise: what mote and authority agreed on */
    KEY_DATA = 4     /* group: from here on, what data comes under */
};

/* What a key is for: one of the first two, and perhaps the third. */
enum {
    KEYDB_PAIRWISE = 1, /* shared with one other mote */
    KEYDB_GROUP = 2,    /* shared with all */
    KEYDB_KEK = 4       /* protects keys, never data */
};

typedef enum {
    KEYDB_OK = 0,
    KEYDB_FULL = 1,
    KEYDB_MISUSE = 2 /* identifier 0, flags that mean nothing, or another use than before */
} keydb_status;

/* Adds a key, or replaces the one of this identifier, which is overwritten. */
keydb_status keydb_set(uint8_t id, uint8_t flags, const uint8_t key[KEYDB_KEY_BYTES]);

/* The key of an identifier, if it is for this use; else null. It stays where it is until it is
   removed. */
const uint8_t *keydb_get(uint8_t id, uint8_t flags);

/* Overwrites a key and forgets it, if it is there. */
void keydb_remove(uint8_t id);

#endif
