/* The shared memory between the system CPU and the RF core: structures of commands and of the queue
   of received frames (SWCU117, chapter Radio). */
#ifndef RF_CORE_H
#define RF_CORE_H

#include <stddef.h>
#include <stdint.h>

/* Commands, given by a pointer to a structure or by their number in the doorbell. */
enum {
    RF_RADIO_SETUP = 0x0802,
    RF_FS_OFF = 0x0804,
    RF_FS_POWERDOWN = 0x080d,
    RF_IEEE_RX = 0x2801,
    RF_IEEE_TX = 0x2c01,
    RF_IEEE_CCA_REQ = 0x2403,
    RF_ABORT = 0x0401,
    RF_START_RAT = 0x0405,
    RF_PING = 0x0406
};
enum { RF_CMDSTA_DONE = 1 }; /* the low byte of CMDSTA */
/* The status of an operation. */
enum { RF_ACTIVE = 2, RF_SUSPENDED = 0x2001, RF_DONE = 0x0400, RF_ERROR = 0x0800 };
/* Triggers, and the condition "no operation follows". */
enum { RF_NOW = 0, RF_NEVER = 1, RF_AT = 2, RF_PAST_TOO = 0x80, RF_ALONE = 1 };
/* Interrupts of the radio CPU. */
#define RF_LAST_FG_COMMAND_DONE 0x00000008u
#define RF_RX_ENTRY_DONE 0x00800000u

/* The header of every radio operation: 14 bytes, with no padding before the fields that follow.
   `start_time` is in ticks of the radio timer, 4 MHz. */
#define RF_OPERATION                                                                               \
    uint16_t number;                                                                               \
    volatile uint16_t status;                                                                      \
    const void *next;                                                                              \
    uint32_t start_time;                                                                           \
    uint8_t start;                                                                                 \
    uint8_t condition

typedef struct {
    RF_OPERATION;
} rf_operation;

enum { RF_MODE_IEEE = 1 };

typedef struct {
    RF_OPERATION;
    uint8_t mode;
    uint8_t reserved;
    uint16_t config; /* 0: differential front end, internal bias, synthesizer powered */
    uint16_t tx_power;
    const uint32_t *overrides;
} rf_radio_setup;

/* rxConfig. */
enum { RF_FLUSH_CRC = 1, RF_FLUSH_IGNORED = 2, RF_APPEND_RSSI = 16, RF_APPEND_STATUS = 32 };
enum { RF_APPEND_TIME = 128 };
/* frameFiltOpt; frame versions up to 2. */
enum { RF_FILTER = 1, RF_FILTER_STOP = 2, RF_AUTO_ACK = 4, RF_VERSION_2 = 2 << 8 };
/* Beacons, data, acknowledgements, commands. */
enum { RF_FRAME_TYPES = 0x0f };
/* ccaOpt: by energy, and by a detected SFD. */
enum { RF_CCA_ENERGY = 1, RF_CCA_SYNC = 4 };

enum { RF_ENTRY_PENDING = 0, RF_ENTRY_FINISHED = 3 };
enum { RF_LENGTH_1 = 1 << 2 }; /* elements begin with a length of one byte */

/* An entry of the queue of received frames. */
typedef struct rf_entry {
    struct rf_entry *next;
    volatile uint8_t status;
    uint8_t config;
    uint16_t bytes;    /* of what follows */
    uint8_t length;    /* of the element */
    uint8_t data[131]; /* a frame without its FCS, RSSI, status, time stamp */
} rf_entry;

typedef struct {
    rf_entry *volatile current;
    rf_entry *last; /* null: the queue is a ring */
} rf_queue;

typedef struct {
    RF_OPERATION;
    uint8_t channel;
    uint8_t config;
    rf_queue *queue;
    void *output;
    uint16_t filter;
    uint8_t types;
    uint8_t cca;
    int8_t cca_threshold_dbm;
    uint8_t reserved;
    uint8_t extended_sources;
    uint8_t short_sources;
    const uint32_t *extended_list;
    const uint32_t *short_list;
    uint8_t extended_address[8];
    uint16_t short_address;
    uint16_t pan;
    uint8_t reserved_too[3];
    uint8_t end;
    uint32_t end_time;
} rf_ieee_rx;

typedef struct {
    RF_OPERATION;
    uint8_t options; /* 0: the RF core adds length and FCS */
    uint8_t length;
    const uint8_t *payload;
    uint32_t time_stamp;
} rf_ieee_tx;

/* Channel states, two bits each: overall, by energy, by correlation; then by SFD. */
enum { RF_CCA_STATE = 3, RF_CCA_BUSY = 1, RF_CCA_INVALID = 2, RF_CCA_BY_SYNC = 1 << 6 };
enum { RF_CCA_BY_ENERGY = 3 << 2, RF_CCA_ENERGY_BUSY = 1 << 2 };

typedef struct {
    _Alignas(4) uint16_t number; /* as everything passed to the doorbell */
    int8_t rssi_dbm;
    int8_t max_rssi_dbm;
    uint8_t info;
} rf_cca_request;

_Static_assert(sizeof(rf_radio_setup) == 24 && offsetof(rf_radio_setup, mode) == 14, "layout");
_Static_assert(sizeof(rf_ieee_rx) == 60 && offsetof(rf_ieee_rx, end) == 55, "layout");
_Static_assert(offsetof(rf_ieee_rx, extended_address) == 40, "layout");
_Static_assert(sizeof(rf_ieee_tx) == 24 && offsetof(rf_entry, data) == 9, "layout");

#endif
