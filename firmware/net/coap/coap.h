/* CoAP messages (RFC 7252, section 3). Reading never leaves the given bytes. */
#ifndef COAP_H
#define COAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef enum { COAP_CON = 0, COAP_NON = 1, COAP_ACK = 2, COAP_RST = 3 } coap_type;

/* Codes: a class in the upper three bits, a detail in the lower five. */
enum {
    COAP_EMPTY = 0,
    COAP_POST = 0x02,
    COAP_CHANGED = 0x44,
    COAP_CONTINUE = 0x5f,
    COAP_BAD_REQUEST = 0x80,
    COAP_UNAUTHORIZED = 0x81,
    COAP_BAD_OPTION = 0x82,
    COAP_NOT_FOUND = 0x84,
    COAP_INCOMPLETE = 0x88
};

/* Options (RFC 7252, table 4; RFC 7959; RFC 8613; RFC 9668; RFC 9175). */
enum {
    COAP_URI_HOST = 3,
    COAP_URI_PORT = 7,
    COAP_OSCORE = 9,
    COAP_URI_PATH = 11,
    COAP_CONTENT_FORMAT = 12,
    COAP_EDHOC = 21,
    COAP_BLOCK2 = 23,
    COAP_BLOCK1 = 27,
    COAP_PROXY_URI = 35,
    COAP_PROXY_SCHEME = 39,
    COAP_ECHO = 252
};

enum { COAP_HEAD_BYTES = 4, COAP_TOKEN_BYTES_MAX = 8 };

typedef struct {
    uint8_t type, code, token_length;
    uint16_t id;
    uint8_t token[COAP_TOKEN_BYTES_MAX];
} coap_head;

/* Reads header and token; returns their length, or 0 if they are malformed. */
size_t coap_read_head(const uint8_t *bytes, size_t length, coap_head *head);

/* What is left of options and payload, and the last option's number. */
typedef struct {
    const uint8_t *at;
    size_t left;
    uint16_t number;
} coap_reader;

typedef struct {
    uint16_t number;
    const uint8_t *value;
    size_t length;
} coap_option;

typedef enum { COAP_END, COAP_OPTION, COAP_MALFORMED } coap_next;

/* Reads the next option. After COAP_END, the reader holds the payload. */
coap_next coap_read(coap_reader *in, coap_option *option);

/* Writes a message into room of a fixed size. */
typedef struct {
    uint8_t *at; /* the next byte */
    size_t room;
    uint16_t number;
    bool overflow; /* there was no room for something: the message is useless */
} coap_writer;

void coap_write_head(coap_writer *out, const coap_head *head);

/* Adds an option, whose number is at least the last one's. */
void coap_write(coap_writer *out, uint16_t number, const uint8_t *value, size_t length);

/* Adds the marker and a payload; nothing if it is empty. */
void coap_write_payload(coap_writer *out, const uint8_t *bytes, size_t length);

/* Adds bytes as they are. */
void coap_write_bytes(coap_writer *out, const uint8_t *bytes, size_t length);

#endif
