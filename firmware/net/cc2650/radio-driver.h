/* The CC2650's RF core. */
#ifndef RADIO_DRIVER_H
#define RADIO_DRIVER_H

#include "oqpsk-2450.h"

enum {
    /* No document gives the time from a start trigger of the RF core to the SFD on air. The
       emulation uses the turnaround time of its acknowledgements, 192 us (SWCU192). With preamble
       and SFD, 160 us, and 10 us for submission: 11.9 ticks. */
    RADIO_TX_LEAD_TICKS = 12,
    /* The same 192 us: 6.3 ticks. */
    RADIO_RX_LEAD_TICKS = 7
};

#define RADIO_HAS_AES 1
#define RADIO_HAS_CCM 1

#endif
