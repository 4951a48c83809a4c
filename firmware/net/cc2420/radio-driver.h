/* The CC2420 of the TelosB. Times from SWRS041B: 12 symbols of calibration, 192 us; then 10 symbols
   of preamble and SFD before a frame, 160 us. */
#ifndef RADIO_DRIVER_H
#define RADIO_DRIVER_H

#include "oqpsk-2450.h"

enum {
    RADIO_TX_LEAD_TICKS = 12, /* 352 us are 11.5 ticks */
    RADIO_RX_LEAD_TICKS = 7   /* 192 us are 6.3 ticks */
};

#define RADIO_HAS_AES 1
#define RADIO_HAS_CCM 1

#endif
