/* Frame security: keys, devices and rules, and the outgoing and incoming procedures. Sections are
   of IEEE Std 802.15.4-2015; the order of the checks is that of clause 7.2 of 802.15.4-2011, which
   names more of them.

   The transformation itself belongs to the strategy (ccm-strategy.h), which is wired when a program
   is built. */
#ifndef SECURITY_H
#define SECURITY_H

#include "frame.h"
#include "radio.h"

enum { SECURITY_KEY_BYTES = 16, SECURITY_NONCE_BYTES = 13 };

typedef enum {
    SECURITY_OK = 0,
    SECURITY_NO_FRAME,           /* no readable frame was received */
    SECURITY_UNSUPPORTED,        /* this level or frame version cannot be secured */
    SECURITY_TOO_LONG,           /* too long for a frame with header and MIC */
    SECURITY_UNAVAILABLE_KEY,    /* no such key, or not for this device */
    SECURITY_UNAVAILABLE_DEVICE, /* the sender is unknown */
    SECURITY_IMPROPER_LEVEL,     /* no rule allows this level for frames of this type */
    SECURITY_IMPROPER_KEY_TYPE,  /* the key is not for frames of this type */
    SECURITY_COUNTER_ERROR,      /* replayed, or the counter is exhausted */
    SECURITY_ERROR,              /* the MIC is wrong */
    SECURITY_STATUSES
} security_status;

/* The absolute slot number: 40 bits. */
typedef struct {
    uint32_t low;
    uint8_t high;
} security_asn;

/* A key and the frames it is for (table 9-9, secKeyIdLookupList and secKeyUsageList). */
typedef struct {
    const uint8_t *key;   /* SECURITY_KEY_BYTES, which must not move or change */
    uint8_t mode;         /* key identifier mode */
    uint8_t index;        /* modes 1 to 3 */
    uint8_t source[8];    /* mode 2: 4 bytes, mode 3: 8, in transmission order */
    frame_address device; /* mode 0: the other side */
    uint8_t frame_types;  /* bit FRAME_...: may secure frames of this type */
} security_key;

/* A known device (table 9-14, secDeviceList). */
typedef struct {
    uint16_t pan;
    uint16_t short_address;      /* 0xfffe: none */
    uint8_t extended_address[8]; /* in transmission order */
    bool exempt; /* may send below the required level where the rule allows exemptions */
} security_device;

/* Which frames are accepted (table 9-13, secSecurityLevelList). */
typedef struct {
    uint8_t frame_type;
    uint8_t command;       /* for command frames: the identifier */
    uint8_t levels;        /* bit n: level n is accepted; bit 0: unsecured frames */
    bool exempt_unsecured; /* unsecured frames of exempt devices are accepted too */
} security_rule;

/* Empties all tables. `own` is this device's extended address, in transmission order. */
void security_init(const uint8_t own[8]);

/* Each appends an entry to its table. Returns false if the table is full. */
bool security_add_key(const security_key *key);
bool security_add_device(const security_device *device);
bool security_add_rule(const security_rule *rule);

/* This device's frame counter, shared by all keys (secFrameCounter). Lower values may have been
   used: code that keeps it over a restart must restore a value above any that was sent. */
extern uint32_t security_counter;

/* Outgoing procedure (section 9.2.2), first half: takes a header whose level and key identifier are
   set, finds the key and sets the counter. `bytes` is the frame's length without auxiliary security
   header and MIC. For level 0 it does nothing. */
security_status security_prepare(frame_header *header, uint8_t bytes);

/* Second half: transforms the frame whose header was prepared last, and loads it into the radio.
   `length` excludes the MIC, for which the buffer must have room; bytes from header->open on are
   private. */
void security_load(const frame_header *header, const security_asn *asn, uint8_t *frame,
                   uint8_t length);

/* For strategies that can, computes in advance the part of the transformation that does not depend
   on the frame's content: the first blocks of the key stream for the frame that header->source
   secures in a slot and, if the frame's length without MIC is known (not 0), the first block of its
   CBC-MAC. Two are kept, in places 0 and 1. header->open is as in the frame. */
void security_ahead(uint8_t place, const frame_header *header, const security_asn *asn,
                    uint8_t blocks, uint8_t length);

/* Incoming procedure (section 9.2.3) for the frame that the radio received: reads it, checks it,
   removes its security and records it against replay. `asn` is the slot's number; null without
   TSCH, and when joining a network by a beacon, which carries the number. `implied` is the sender
   of a frame that names none, or null. The frame's length without MIC is header->mic. If the status
   is not SECURITY_OK, the frame must not be used. */
security_status security_receive(const security_asn *asn, const frame_address *implied,
                                 uint8_t *frame, frame_header *header, radio_reception *reception);

#endif
