/* IEEE 802.15.4 frames: headers of versions 2003, 2006 and 2015, and information elements. Sections
   and tables are of IEEE Std 802.15.4-2015. Numbers are little-endian on air, and addresses are
   stored in transmission order: the last byte of an EUI-64 first. */
#ifndef FRAME_H
#define FRAME_H

#include "radio.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    FRAME_BEACON = 0,
    FRAME_DATA = 1,
    FRAME_ACK = 2,
    FRAME_COMMAND = 3,

    FRAME_VERSION_2003 = 0,
    FRAME_VERSION_2006 = 1,
    FRAME_VERSION_2015 = 2,

    ADDRESS_NONE = 0,
    ADDRESS_SHORT = 2,
    ADDRESS_EXTENDED = 3,
    ADDRESS_SHORT_BYTES = 2,
    ADDRESS_EXTENDED_BYTES = 8,

    FRAME_BROADCAST = 0xffff,

    /* Frame control, sequence number, two PAN IDs and extended addresses, and the longest auxiliary
       security header: 37. Information elements follow. */
    FRAME_HEADER_BYTES_MAX = 2 + 1 + 2 * (2 + 8) + 14
};

typedef struct {
    uint8_t mode; /* ADDRESS_... */
    uint16_t pan;
    uint8_t bytes[ADDRESS_EXTENDED_BYTES]; /* a short address uses the first two */
} frame_address;

/* Section 9.4: the auxiliary security header. */
typedef struct {
    uint8_t level; /* 0: the frame is not secured and has no such header */
    uint8_t key_id_mode;
    bool counter_suppressed;
    bool asn_in_nonce;
    uint32_t counter;      /* 0 if suppressed */
    uint8_t key_source[8]; /* in transmission order: 4 bytes in mode 2, 8 in mode 3 */
    uint8_t key_index;     /* 0 in mode 0 */
} frame_security;

typedef struct {
    uint8_t type;
    uint8_t version;
    bool pending;
    bool acknowledge;
    bool pan_compressed;
    bool no_sequence; /* 2015 */
    bool elements;    /* 2015: information elements follow the addresses */
    uint8_t sequence;
    frame_address destination;
    frame_address source;
    frame_security security;

    /* Set by frame_parse: offsets in the frame. */
    uint8_t header_elements;  /* the header's information elements */
    uint8_t payload_elements; /* the payload's; the payload itself if it has none */
    bool has_payload_elements;
    uint8_t open; /* first byte that is encrypted: private payload (section 9.3.3.2) */
    uint8_t mic;  /* the MIC, and the end of everything before it; the frame's end without one */
} frame_header;

uint8_t frame_mic_bytes(uint8_t level); /* table 9-6: 0, 4, 8, 16 twice */
bool frame_encrypts(uint8_t level);     /* levels 4 to 7 */
uint8_t frame_address_bytes(uint8_t mode);
bool frame_same_address(const frame_address *a, const frame_address *b);

/* Length of the auxiliary security header: 0 without one, at most 14. */
uint8_t frame_security_bytes(const frame_security *security);

/* Writes the header up to the information elements; returns its length. `frame` has room for
   FRAME_HEADER_BYTES_MAX bytes. pan_compressed selects which PAN IDs are sent (table 7-2). */
uint8_t frame_write(uint8_t *frame, const frame_header *header);

/* Parses a frame's header, whatever its bytes. `length` is that of the whole frame, of which
   `there` bytes can be read. Returns false if the frame is of no supported kind or its header is
   not complete. */
bool frame_parse(const uint8_t *frame, uint8_t there, uint8_t length, frame_header *header);

/* ---- Information elements (section 7.4) ---- */

enum {
    ELEMENT_TIME_CORRECTION = 0x1e, /* header */
    ELEMENT_TERMINATION_1 = 0x7e,   /* header: payload elements follow */
    ELEMENT_TERMINATION_2 = 0x7f,   /* header: payload follows */
    ELEMENT_MLME = 1,               /* payload: contains nested elements */
    ELEMENT_TERMINATION = 0xf,      /* payload */
    NESTED_SYNCHRONIZATION = 0x1a,  /* short */
    NESTED_SLOTFRAMES = 0x1b,
    NESTED_TIMESLOT = 0x1c,
    NESTED_CHANNEL_HOPPING = 0x9 /* long */
};

typedef struct {
    uint8_t id;
    uint16_t length;
    const uint8_t *content;
} frame_element;

/* Each writes a descriptor and returns its end. The caller writes the content there. */
uint8_t *frame_put_header_element(uint8_t *at, uint8_t id, uint8_t length);
uint8_t *frame_put_payload_element(uint8_t *at, uint8_t group, uint16_t length);
uint8_t *frame_put_nested_element(uint8_t *at, uint8_t id, uint8_t length);
uint8_t *frame_put_long_nested_element(uint8_t *at, uint8_t id, uint16_t length);

/* Each finds the first element with an ID between two positions. Returns false if there is none, or
   if the list is malformed before it. */
bool frame_header_element(const uint8_t *from, const uint8_t *end, uint8_t id, frame_element *out);
bool frame_payload_element(const uint8_t *from, const uint8_t *end, uint8_t group,
                           frame_element *out);
bool frame_nested_element(const uint8_t *from, const uint8_t *end, uint8_t id, bool is_long,
                          frame_element *out);

#endif
