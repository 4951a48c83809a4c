/* Time-slotted channel hopping (IEEE Std 802.15.4-2015, section 6.3): a root that sends enhanced
   beacons, and leaves that join it and follow its time. Slot 0 of a slotframe is the beacon's; leaf
   n, from 2, has slot 2n - 3 from the root and slot 2n - 2 to it.

   Each mote runs one slot at a time and finishes it before the next begins. When it waits for a
   moment, the marker is high from the time it is ready until the moment comes, so that the time to
   spare can be measured from outside. Missed moments are counted. */
#ifndef TSCH_H
#define TSCH_H

#include "frame.h"
#include "link.h"

/* The moments that a slot waits for, in order. */
typedef enum {
    TSCH_TX_OFFSET,  /* sender: the frame is secured and loaded */
    TSCH_RX_LISTEN,  /* receiver: before the frame can come */
    TSCH_ACK_LISTEN, /* sender: before the acknowledgement can come */
    TSCH_TX_ACK,     /* receiver: the frame is unsecured, the acknowledgement secured and loaded */
    TSCH_SLOT_END,   /* both: done */
    TSCH_DEADLINES
} tsch_deadline;

extern const char *const tsch_deadline_names[TSCH_DEADLINES];

typedef struct {
    uint32_t late[TSCH_DEADLINES];
    uint32_t slots;        /* with a link of ours */
    uint32_t sent;         /* data frames */
    uint32_t acknowledged; /* of those sent */
    uint32_t received;
    uint32_t refused; /* received but rejected, by security or by address */
    uint32_t joins;
} tsch_counts;

extern tsch_counts tsch_count;

enum { TSCH_ROOT = 1, TSCH_PAN = 0x4a4d };

/* The longest payload of a data frame at its security level. */
extern const uint8_t tsch_payload_bytes;

/* Starts the radio. Returns false if there is none. */
bool tsch_init(void);

/* The slot's number since the root's last boot; 0 before a leaf has joined. */
uint32_t tsch_slot_number(void);

/* Runs the next slot that has a link; a leaf that has not joined listens for a beacon instead. */
void tsch_slot(void);

/* ---- Defined by the application ---- */

/* Fills the next payload for a mote and returns its length; 0: nothing to send. It is called again
   for a payload that was not acknowledged. */
uint8_t tsch_next(uint8_t mote, uint8_t *payload);

void tsch_acknowledged(uint8_t mote);

/* A payload came from a mote. Little time of the slot is left. */
void tsch_received(uint8_t mote, const uint8_t *payload, uint8_t length);

#endif
