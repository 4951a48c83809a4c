/* The radio of tests on this machine. */
#include "oqpsk-2450.h"

#define RADIO_TX_LEAD_TICKS 12
#define RADIO_RX_LEAD_TICKS 8
#define RADIO_HAS_AES 1
#define RADIO_HAS_CCM 1
