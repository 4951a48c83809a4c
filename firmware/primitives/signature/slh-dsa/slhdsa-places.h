/* Places of hashes in the trees of SLH-DSA (FIPS 205, section 4.2), and what is signed. Include the
   header of a family of hashes before. */
#ifndef SLHDSA_PLACES_H
#define SLHDSA_PLACES_H

enum { CHAIN = HEIGHT, STEP = INDEX }; /* of a one-time signature's hashes */

/* Sets an address's type, and what follows it to the number of a key pair and zeros. */
static void set_type(hashes *h, unsigned type, uint32_t key_pair) {
    h->block[TYPE] = (uint8_t)type;
    put_32(h->block + KEY_PAIR, key_pair);
    put_32(h->block + HEIGHT, 0);
    put_32(h->block + INDEX, 0);
}

/* Writes the digits that a one-time signature signs: a message's and their checksum's (algorithm 7,
   lines 2 to 7). The array has one more than there are chains. */
static void split(uint8_t digits[CHAINS + 1], const uint8_t *message) {
    unsigned sum = 0;
    for (unsigned i = 0; i < DIGITS; i++) {
        digits[i] = i % 2 == 0 ? message[i / 2] >> 4 : message[i / 2] & 15;
        sum += 15u - digits[i];
    }
    digits[DIGITS] = (uint8_t)(sum >> 8);
    digits[DIGITS + 1] = (uint8_t)(sum >> 4 & 15);
    digits[DIGITS + 2] = (uint8_t)(sum & 15);
}

typedef struct {
    uint64_t tree;
    uint32_t leaf;
} place;

/* The numbers of a tree and of its leaf in a digest (algorithm 19, lines 7 to 10). */
static place place_in(const uint8_t *digest) {
    place p = {0, 0};
    const uint8_t *numbers = digest + FORS_BYTES;
    for (unsigned i = 0; i < TREE_BYTES; i++)
        p.tree = p.tree << 8 | *numbers++;
    for (unsigned i = 0; i < LEAF_BYTES; i++)
        p.leaf = p.leaf << 8 | *numbers++;
    p.tree &= ((uint64_t)1 << (SLHDSA_H - LAYER_HEIGHT)) - 1;
    p.leaf &= (1u << LAYER_HEIGHT) - 1;
    return p;
}

static void set_tree(hashes *h, unsigned layer, uint64_t tree) {
    h->block[LAYER] = (uint8_t)layer;
    put_32(h->block + TREE, (uint32_t)(tree >> 32));
    put_32(h->block + TREE + 4, (uint32_t)tree);
}

#endif
