/* The nRF52840's radio in IEEE 802.15.4 mode. */
#ifndef RADIO_DRIVER_H
#define RADIO_DRIVER_H

#include "oqpsk-2450.h"

enum {
    /* Fast ramp-up 40 us, preamble and SFD 160 us: 6.6 ticks, plus the time radio_transmit takes
       before it begins. */
    RADIO_TX_LEAD_TICKS = 7,
    /* Fast ramp-up: 1.3 ticks. */
    RADIO_RX_LEAD_TICKS = 2
};

#define RADIO_HAS_AES 0
#define RADIO_HAS_CCM 0

#endif
