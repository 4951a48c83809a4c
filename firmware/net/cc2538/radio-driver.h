/* The CC2538's radio. */
#ifndef RADIO_DRIVER_H
#define RADIO_DRIVER_H

#include "oqpsk-2450.h"

enum {
    /* Calibration 192 us (SWRS096A, general characteristics), preamble and SFD 160 us: 11.5 ticks,
       plus the time radio_transmit takes before the strobe. */
    RADIO_TX_LEAD_TICKS = 12,
    /* The same calibration: 6.3 ticks. */
    RADIO_RX_LEAD_TICKS = 7
};

#define RADIO_HAS_AES 1
#define RADIO_HAS_CCM 1

#endif
