/* Frame security: keys, devices and rules, and what becomes of a frame that goes out or comes in.
   Sections are those of IEEE Std 802.15.4-2015; the order of the checks is that of clause 7.2 of
   802.15.4-2011, which names more of them.

   The transformation itself is the strategy's (ccm-strategy.h), which is wired when a program is
   built. */
#ifndef SECURITY_H
#define SECURITY_H

#include "frame.h"
#include "radio.h"

enum { SECURITY_KEY_BYTES = 16, SECURITY_NONCE_BYTES = 13 };

typedef enum {
    SECURITY_OK = 0,
    SECURITY_NO_FRAME,           /* nothing that can be read was received */
    SECURITY_UNSUPPORTED,        /* this level or frame version is not secured */
    SECURITY_TOO_LONG,           /* with header and MIC it does not fit a frame */
    SECURITY_UNAVAILABLE_KEY,    /* no such key, or not with this device */
    SECURITY_UNAVAILABLE_DEVICE, /* the sender is not known */
    SECURITY_IMPROPER_LEVEL,     /* no rule lets frames of this type have this level */
    SECURITY_IMPROPER_KEY_TYPE,  /* the key is not for frames of this type */
    SECURITY_COUNTER_ERROR,      /* replayed, or the counter is used up */
    SECURITY_ERROR,              /* the MIC is wrong */
    SECURITY_STATUSES
} security_status;

/* The absolute slot number: 40 bits. */
typedef struct {
    uint32_t low;
    uint8_t high;
} security_asn;

/* Which frames a key is for (table 9-9, secKeyIdLookupList and secKeyUsageList). */
typedef struct {
    const uint8_t *key;   /* SECURITY_KEY_BYTES, which stay where they are and do not change */
    uint8_t mode;         /* key identifier mode */
    uint8_t index;        /* modes 1 to 3 */
    uint8_t source[8];    /* mode 2: 4 bytes, mode 3: 8, as sent */
    frame_address device; /* mode 0: the other side */
    uint8_t frame_types;  /* bit FRAME_...: may secure frames of this type */
} security_key;

/* Who is known (table 9-14, secDeviceList). */
typedef struct {
    uint16_t pan;
    uint16_t short_address;      /* 0xfffe: has none */
    uint8_t extended_address[8]; /* as sent */
    bool exempt; /* may send below the level that a rule asks for, where the rule allows that */
} security_device;

/* What is let in (table 9-13, secSecurityLevelList). */
typedef struct {
    uint8_t frame_type;
    uint8_t command;       /* of a command frame: its identifier */
    uint8_t levels;        /* bit n: level n is let in; bit 0: unsecured frames */
    bool exempt_unsecured; /* unsecured frames of exempt devices too */
} security_rule;

/* Empties all tables. `own` is this device's extended address, as sent. */
void security_init(const uint8_t own[8]);

/* Each adds an entry at its table's end; false: the table is full. */
bool security_add_key(const security_key *key);
bool security_add_device(const security_device *device);
bool security_add_rule(const security_rule *rule);

/* This device's frame counter, which all keys share (secFrameCounter). What is below may have been
   used: whoever keeps it over a restart sets it ahead of what was sent. */
extern uint32_t security_counter;

/* Outgoing procedure (section 9.2.2), first half: takes a header whose level and key identifier are
   chosen, finds the key and sets the counter. `bytes` is the frame's length without auxiliary
   header and MIC. Level 0 is nothing to do. */
security_status security_prepare(frame_header *header, uint8_t bytes);

/* Second half: transforms the frame whose header was prepared last, and loads it into the radio.
   `length` bytes without the MIC, for which there is room behind; those from header->open on are
   private. */
void security_load(const frame_header *header, const security_asn *asn, uint8_t *frame,
                   uint8_t length);

/* What of the transformation does not depend on a frame's content is made before it is there, by a
   strategy that can: the first blocks of the key stream of what header->source secures in a slot;
   and, where the frame's length without MIC is known and not 0, the first block of its CBC-MAC. Two
   are remembered, at place 0 and 1. header->open is as in the frame. */
void security_ahead(uint8_t place, const frame_header *header, const security_asn *asn,
                    uint8_t blocks, uint8_t length);

/* Incoming procedure (section 9.2.3) of the frame that the radio received: reads it, checks it,
   takes its security away and remembers what must not come again. `asn` is that of the slot; null
   without TSCH, and to join a network by a beacon, which tells its slot. `implied`: the sender of a
   frame that names none, or null. The frame's length without MIC is header->mic. On any other
   status than SECURITY_OK the frame is not to be looked at. */
security_status security_receive(const security_asn *asn, const frame_address *implied,
                                 uint8_t *frame, frame_header *header, radio_reception *reception);

#endif
