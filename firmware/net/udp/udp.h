/* UDP over IPv6 between neighbours, over CSMA: link-local addresses made of short addresses
   (RFC 6282, section 3.2.2), headers compressed (sections 3.1 and 4.3), and datagrams that are
   longer than a frame in fragments (RFC 4944, section 5.3).

   Only what is sent here is understood: one hop, a hop limit of 64, no traffic class, no context, a
   checksum. Any other frame is dropped. Acknowledged frames come in order; a fragment out of order
   is dropped, and its whole datagram with it. */
#ifndef UDP_H
#define UDP_H

#include "csma.h"

enum { UDP_PAN = 0x4a4d, UDP_CHANNEL = 26 };

typedef struct {
    uint16_t from, from_port, to_port, length;
    uint8_t bytes[UDP_BYTES_MAX];
} udp_datagram;

/* Starts the radio on UDP_CHANNEL, and receives. Returns false if there is no radio. */
bool udp_init(uint16_t address);

/* Sends a datagram of up to UDP_BYTES_MAX bytes; stops at the first frame that fails. */
csma_status udp_send(uint16_t to, uint16_t from_port, uint16_t to_port, const uint8_t *bytes,
                     uint16_t length);

/* Waits for a whole datagram. Returns false if none was complete before `until`; a partial one is
   kept for the next call. */
bool udp_receive(radio_time until, udp_datagram *datagram);

/* A time span of any length; radio_time alone cannot compare times a second or more apart. */
typedef struct {
    radio_time last;
    uint32_t left; /* ticks */
} udp_timer;

/* Begins a time span of up to 131 s. */
udp_timer udp_timer_of(uint32_t ms);

/* Waits for a whole datagram as long as the timer runs; call it at least every two seconds while it
   does. Returns false when it has run out. */
bool udp_hear(udp_timer *timer, udp_datagram *datagram);

/* Sleeps with the radio off, which loses a partial datagram's next frames. */
void udp_rest(uint32_t ms);

#endif
