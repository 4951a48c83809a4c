#include "keydb.h"

#include "crypto.h"

typedef struct {
    uint8_t id; /* 0: free */
    uint8_t flags;
    uint8_t key[KEYDB_KEY_BYTES];
} entry;

static entry table[KEYDB_CAPACITY];

static entry *find(uint8_t id) {
    for (entry *e = table; e < table + KEYDB_CAPACITY; e++)
        if (e->id == id)
            return e;
    return 0;
}

keydb_status keydb_set(uint8_t id, uint8_t flags, const uint8_t key[KEYDB_KEY_BYTES]) {
    uint8_t whose = flags & (uint8_t)~KEYDB_KEK;
    if (id == 0 || (whose != KEYDB_PAIRWISE && whose != KEYDB_GROUP))
        return KEYDB_MISUSE;
    entry *e = find(id);
    if (e == 0)
        e = find(0);
    else if (e->flags != flags)
        return KEYDB_MISUSE;
    if (e == 0)
        return KEYDB_FULL;
    e->id = id;
    e->flags = flags;
    for (uint8_t i = 0; i < KEYDB_KEY_BYTES; i++)
        e->key[i] = key[i];
    return KEYDB_OK;
}

const uint8_t *keydb_get(uint8_t id, uint8_t flags) {
    const entry *e = find(id);
    return id != 0 && e != 0 && e->flags == flags ? e->key : 0;
}

void keydb_remove(uint8_t id) {
    entry *e = find(id);
    if (id != 0 && e != 0)
        crypto_wipe(e, sizeof *e);
}
