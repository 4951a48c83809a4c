/* IEEE 802.15.4's O-QPSK PHY at 2.4 GHz (IEEE Std 802.15.4-2006, 6.1.2, 6.3 and 6.5), for the
   radio-driver.h of a radio that has it. */
#ifndef OQPSK_2450_H
#define OQPSK_2450_H

enum {
    RADIO_SYMBOL_US = 16,
    RADIO_BYTE_US = 32,
    RADIO_SYNC_BYTES = 5,   /* preamble and SFD */
    RADIO_HEADER_BYTES = 1, /* length */
    RADIO_FCS_BYTES = 2,
    RADIO_PSDU_BYTES_MAX = 127,
    RADIO_CHANNEL_MIN = 11,
    RADIO_CHANNEL_MAX = 26
};

#endif
