/* The part of CBOR (RFC 8949) that EDHOC's messages need: lengths below 65536, only in the shortest
   form (section 4.2.1). Reading never leaves the given bytes. */
#ifndef HANDSHAKE_CBOR_H
#define HANDSHAKE_CBOR_H

#include "crypto.h"

enum {
    CBOR_UINT = 0x00,
    CBOR_NEGATIVE = 0x20,
    CBOR_BYTES = 0x40,
    CBOR_TEXT = 0x60,
    CBOR_HEAD_MOST = 3
};

/* Writes the head of an item: type and number. Returns its length. */
static inline size_t cbor_head(uint8_t out[CBOR_HEAD_MOST], uint8_t type, size_t number) {
    if (number < 24) {
        out[0] = (uint8_t)(type | number);
        return 1;
    }
    if (number < 256) {
        out[0] = type | 24;
        out[1] = (uint8_t)number;
        return 2;
    }
    out[0] = type | 25;
    out[1] = (uint8_t)(number >> 8);
    out[2] = (uint8_t)number;
    return 3;
}

typedef struct {
    const uint8_t *at;
    size_t left;
} cbor_reader;

/* Reads the head of an item of a type, with its number; returns 0 if there is none. */
static inline int cbor_read_number(cbor_reader *in, uint8_t type, size_t *out) {
    uint8_t head[CBOR_HEAD_MOST];
    size_t number, size;
    if (in->left == 0 || in->at[0] >> 5 != type >> 5)
        return 0;
    number = in->at[0] & 31;
    if (number > 25)
        return 0;
    size = number < 24 ? 1 : number - 22;
    if (in->left < size)
        return 0;
    if (number == 24)
        number = in->at[1];
    else if (number == 25)
        number = (size_t)in->at[1] << 8 | in->at[2];
    if (cbor_head(head, type, number) != size)
        return 0;
    *out = number;
    in->at += size;
    in->left -= size;
    return 1;
}

/* Reads a byte or text string, of definite length. Returns 0, and reads nothing, if there is
   none. */
static inline int cbor_read_string(cbor_reader *in, uint8_t type, const uint8_t **bytes,
                                   size_t *length) {
    cbor_reader rest = *in;
    if (!cbor_read_number(&rest, type, length) || rest.left < *length)
        return 0;
    *bytes = rest.at;
    in->at = rest.at + *length;
    in->left = rest.left - *length;
    return 1;
}

static inline int cbor_read_bytes(cbor_reader *in, const uint8_t **bytes, size_t *length) {
    return cbor_read_string(in, CBOR_BYTES, bytes, length);
}

/* Returns whether this is exactly one text string. */
static inline int cbor_is_text(const uint8_t *at, size_t left) {
    cbor_reader in = {at, left};
    const uint8_t *text;
    size_t length;
    return cbor_read_string(&in, CBOR_TEXT, &text, &length) && in.left == 0;
}

/* Reads an identifier: an integer between -24 and 23, which is one byte, or a byte string that
   could not be sent as such an integer. Returns its length, or 0. */
static inline size_t cbor_read_identifier(cbor_reader *in) {
    const uint8_t *bytes;
    size_t length, before = in->left;
    if (before == 0)
        return 0;
    if (in->at[0] < 0x18 || (in->at[0] >= 0x20 && in->at[0] < 0x38)) {
        in->at++;
        in->left--;
        return 1;
    }
    if (!cbor_read_bytes(in, &bytes, &length))
        return 0;
    if (length == 1 && (bytes[0] < 0x18 || (bytes[0] >= 0x20 && bytes[0] < 0x38)))
        return 0;
    return before - in->left;
}

/* A cipher suite is an integer of one byte: below 24 or, where CBOR_PRIVATE_SUITES is defined, also
   one for private use, -24 to -21. */
#ifdef CBOR_PRIVATE_SUITES
#define CBOR_IS_SUITE(byte) ((byte) < 24 || ((byte) >= 0x34 && (byte) < 0x38))
#else
#define CBOR_IS_SUITE(byte) ((byte) < 24)
#endif

/* Returns the length of SUITES_I, a suite or an array of them, or 0. */
static inline size_t cbor_suites(const uint8_t *at, size_t left) {
    size_t items;
    if (left == 0)
        return 0;
    if (CBOR_IS_SUITE(at[0]))
        return 1;
    items = at[0] & 31;
    if (at[0] >> 5 != 4 || items < 2 || items > 23 || left < 1 + items)
        return 0;
    for (size_t i = 1; i <= items; i++)
        if (!CBOR_IS_SUITE(at[i]))
            return 0;
    return 1 + items;
}

#endif
