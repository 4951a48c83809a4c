/* The layer between slots and the radio: frame security if it is part of the program, else
   nothing. */
#ifndef LINK_H
#define LINK_H

#include "frame.h"
#include "radio.h"

#if __has_include("security.h")
#include "ccm-strategy.h"
#include "security.h"

typedef security_asn link_asn;

static inline bool link_prepare(frame_header *header, uint8_t bytes) {
    return security_prepare(header, bytes) == SECURITY_OK;
}

static inline void link_load(const frame_header *header, const link_asn *asn, uint8_t *frame,
                             uint8_t length) {
    security_load(header, asn, frame, length);
}

static inline bool link_receive(const link_asn *asn, const frame_address *implied, uint8_t *frame,
                                frame_header *header) {
    return security_receive(asn, implied, frame, header, 0) == SECURITY_OK;
}

/* Whether frames are processed while they arrive. */
enum { LINK_STREAMS = CCM_STRATEGY_STREAMS };

static inline void link_ahead(uint8_t place, const frame_header *header, const link_asn *asn,
                              uint8_t blocks, uint8_t length) {
#if CCM_STRATEGY_MAKES_AHEAD
    security_ahead(place, header, asn, blocks, length);
#else
    (void)place, (void)header, (void)asn, (void)blocks, (void)length;
#endif
}
#else
typedef struct {
    uint32_t low;
    uint8_t high;
} link_asn;

static inline bool link_prepare(frame_header *header, uint8_t bytes) {
    return header->security.level == 0 && bytes <= RADIO_FRAME_BYTES_MAX;
}

static inline void link_load(const frame_header *header, const link_asn *asn, uint8_t *frame,
                             uint8_t length) {
    (void)header, (void)asn;
    radio_load(frame, length);
}

static inline bool link_receive(const link_asn *asn, const frame_address *implied, uint8_t *frame,
                                frame_header *header) {
    (void)asn, (void)implied;
    uint8_t length = radio_read(frame, 0);
    return length > 0 && frame_parse(frame, length, length, header) && header->security.level == 0;
}

enum { LINK_STREAMS = 0 };

static inline void link_ahead(uint8_t place, const frame_header *header, const link_asn *asn,
                              uint8_t blocks, uint8_t length) {
    (void)place, (void)header, (void)asn, (void)blocks, (void)length;
}
#endif

#endif
