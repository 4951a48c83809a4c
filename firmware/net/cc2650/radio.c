/* Drives the RF core with its commands (SWCU117, chapter Radio). The receiver runs as a background
   operation from radio_receive on; transmissions in the foreground suspend it. The RF core's
   interrupts wake the core, but no handler runs.

   Not implemented, but needed on boards: TI's register overrides for the radio's performance, and
   the 24-MHz crystal as the chip's clock, which functions of the boot ROM start. */
#include "radio.h"

#include <string.h>

#include "chip.h"
#include "rf-core.h"
#include "series.h"

/* PRCM, PWMCLKEN. */
enum { ON = 1, LOAD = 1, LOAD_DONE = 2, MODES_ALL = 5, CLOCKS_ALL = 0x7ff, CRYPTO_CLOCK = 1 };
/* AON_RTC_CTL, CHCTL, EVFLAGS: channel 0. */
enum { RTC_EN = 1, CH0_COMBINED = 1 << 16, CH0 = 1 };
/* Interrupts 4 and 9. */
enum { NVIC_WORD = 0, RTC_BIT = 1 << 4, CPE_0_BIT = 1 << 9 };

enum {
    CCA_THRESHOLD_DBM = -81, /* as in the CC2538's driver */
    TRAILER = 6,             /* RSSI, status, time stamp */
    STATUS_LQI = 4,          /* scales a 6-bit correlation to 8 bits */
    STATUS_WRONG = 0xc0,     /* ignored, or wrong FCS: the RF core should have flushed it */
    RAT_US = 4,
    TX_AHEAD_US = 10, /* time to submit a transmission */
    TX_SFD_US = 352,  /* from the start trigger to the SFD: see radio-driver.h */
    SLEEP_AHEAD = 4,  /* minimum lead of a compare value of the clock, in ticks */
    ACK_TICKS_MAX = 20,
    RSSI_TICKS_MAX = 12,
    TX_TICKS_MAX = 16,
    FRAME_TICKS_MAX = 150, /* the longest frame: 4.26 ms after its SFD */
    POLLS_MAX = 100000,    /* of the doorbell, and of short operations */
    ENTRIES = 2
};

static rf_entry entries[ENTRIES];
static rf_queue queue;
static rf_entry *oldest; /* first entry that may hold an unread frame */
static rf_ieee_rx rx;
static rf_ieee_tx tx;
static uint8_t loaded[RADIO_FRAME_BYTES_MAX];
static bool stale; /* the receiver runs with settings that differ from `rx` */

/* ---- Time: the real-time clock. ---- */

static uint32_t now(void) {
    uint32_t seconds = AON_RTC_SEC; /* latches AON_RTC_SUBSEC */
    return seconds << 15 | AON_RTC_SUBSEC >> 17;
}

radio_time radio_now(void) {
    return (radio_time)now();
}

/* Converts a past count of the radio timer to a time: 4 MHz is 15,625 / 128 times 32,768 Hz. The
   clock's count is half a tick old on average. */
static radio_time time_of(uint32_t count) {
    radio_time ticks = radio_now();
    uint32_t passed = RFC_RAT_RATCNT - count + 61;
    return (radio_time)(ticks - (uint16_t)(passed / 15625 * 128 + passed % 15625 * 128 / 15625));
}

/* Sets the alarm of the clock's channel. Returns false if `when` is too near. */
static bool set_alarm(radio_time when) {
    uint32_t ticks = now();
    int16_t ahead = radio_time_after(when, (radio_time)ticks);
    if (ahead < SLEEP_AHEAD)
        return false;
    AON_RTC_CH0CMP = (ticks + (uint32_t)ahead) << 1; /* in units of 2^-16 s */
    AON_RTC_EVFLAGS = CH0;
    AON_RTC_CHCTL = CH0;
    return true;
}

void radio_sleep_until(radio_time when) {
    while (set_alarm(when))
        sleep_until_interrupt(NVIC_WORD, RTC_BIT | CPE_0_BIT);
    while (radio_time_after(when, radio_now()) > 0)
        continue;
}

/* Waits for one of the RF core's interrupts. Returns false if none came before `until`. */
static bool wait_for(uint32_t flags, radio_time until) {
    RFC_DBELL_RFCPEIEN = flags;
    while ((RFC_DBELL_RFCPEIFG & flags) == 0 && set_alarm(until))
        sleep_until_interrupt(NVIC_WORD, RTC_BIT | CPE_0_BIT);
    RFC_DBELL_RFCPEIEN = 0;
    while ((RFC_DBELL_RFCPEIFG & flags) == 0)
        if (radio_time_after(until, radio_now()) <= 0)
            return false;
    return true;
}

/* ---- Commands. ---- */

static bool doorbell(uint32_t value) {
    finish_writes();
    RFC_DBELL_CMDR = value;
    uint32_t status = 0;
    for (uint32_t polls = 0; polls < POLLS_MAX && (status & 0xff) == 0; polls++)
        status = RFC_DBELL_CMDSTA;
    RFC_DBELL_RFACKIFG = 0;
    /* What the RF core has written must be read from memory. */
    __asm__ volatile("" ::: "memory");
    return (status & 0xff) == RF_CMDSTA_DONE;
}

static bool direct(uint32_t number) {
    return doorbell(number << 16 | 1);
}

static bool is_over(uint16_t status) {
    return (status & (RF_DONE | RF_ERROR)) != 0;
}

static bool is_receiving(void) {
    return rx.status == RF_ACTIVE || rx.status == RF_SUSPENDED;
}

/* Runs a short operation to its end. */
static bool run(const void *operation, volatile uint16_t *status) {
    if (!doorbell((uint32_t)(uintptr_t)operation))
        return false;
    for (uint32_t polls = 0; polls < POLLS_MAX && !is_over(*status); polls++)
        continue;
    return *status == RF_DONE;
}

static bool run_alone(uint16_t number) {
    rf_operation operation = {.number = number, .start = RF_NOW, .condition = RF_ALONE};
    return run(&operation, &operation.status);
}

/* Asks for the channel's state and power. Returns false if no receiver runs. */
static bool ask_cca(rf_cca_request *answer) {
    *answer = (rf_cca_request){.number = RF_IEEE_CCA_REQ};
    return doorbell((uint32_t)(uintptr_t)answer);
}

/* The same, once the power is valid: 128 us after the receiver is on. */
static bool wait_cca(rf_cca_request *answer) {
    radio_time end = (radio_time)(radio_now() + RSSI_TICKS_MAX);
    while (ask_cca(answer)) {
        if ((answer->info & RF_CCA_STATE) != RF_CCA_INVALID)
            return true;
        if (radio_time_after(end, radio_now()) < 0)
            return false;
    }
    return false;
}

/* ---- The radio. ---- */

static bool power_up(void) {
    PRCM_RFCMODESEL = MODES_ALL;
    PRCM_PDCTL0RFC = ON;
    PRCM_PDCTL1RFC = ON;
    for (uint32_t polls = 0; (PRCM_PDSTAT0RFC & PRCM_PDSTAT1RFC & ON) == 0; polls++)
        if (polls == POLLS_MAX)
            return false;
    PRCM_RFCCLKG = ON;
    PRCM_CLKLOADCTL = LOAD;
    while ((PRCM_CLKLOADCTL & LOAD_DONE) == 0)
        continue;
    RFC_PWR_PWMCLKEN = CLOCKS_ALL;
    RFC_DBELL_RFCPEIEN = 0;
    RFC_DBELL_RFCPEISL = 0; /* all on line 0 */
    static rf_radio_setup setup = {.number = RF_RADIO_SETUP,
                                   .start = RF_NOW,
                                   .condition = RF_ALONE,
                                   .mode = RF_MODE_IEEE,
                                   .tx_power = CC2650_TX_POWER};
    return direct(RF_PING) && direct(RF_START_RAT) && run(&setup, &setup.status);
}

bool radio_init(void) {
    PRCM_SECDMACLKGR = CRYPTO_CLOCK; /* AES; loaded with the RF core's clock */
    PRCM_SECDMACLKGS = CRYPTO_CLOCK;
    AON_RTC_CTL = CH0_COMBINED | RTC_EN;
    for (uint8_t i = 0; i < ENTRIES; i++)
        entries[i] = (rf_entry){.next = &entries[(i + 1) % ENTRIES],
                                .config = RF_LENGTH_1,
                                .bytes = 1 + sizeof entries[i].data};
    oldest = entries;
    queue = (rf_queue){.current = entries};
    rx = (rf_ieee_rx){.number = RF_IEEE_RX,
                      .start = RF_NOW,
                      .condition = RF_ALONE,
                      .channel = RADIO_CHANNEL_MIN,
                      .config = RF_FLUSH_CRC | RF_FLUSH_IGNORED | RF_APPEND_RSSI |
                                RF_APPEND_STATUS | RF_APPEND_TIME,
                      .queue = &queue,
                      .filter = RF_VERSION_2,
                      .types = RF_FRAME_TYPES,
                      .cca = RF_CCA_ENERGY | RF_CCA_SYNC,
                      .cca_threshold_dbm = CCA_THRESHOLD_DBM,
                      .end = RF_NEVER};
    tx = (rf_ieee_tx){.number = RF_IEEE_TX, .condition = RF_ALONE, .payload = loaded};
    return power_up();
}

void radio_channel(uint8_t channel) {
    stale = stale || rx.channel != channel;
    rx.channel = channel;
}

void radio_set_filter(const radio_filter *filter) {
    stale = true;
    if (filter == 0) {
        rx.filter = RF_VERSION_2;
        return;
    }
    rx.pan = filter->pan;
    rx.short_address = filter->short_address;
    memcpy(rx.extended_address, filter->extended_address, sizeof rx.extended_address);
    rx.filter = (uint16_t)(RF_VERSION_2 | RF_FILTER | RF_FILTER_STOP |
                           (filter->acknowledge ? RF_AUTO_ACK : 0));
}

/* The RF core sends acknowledgements by itself, and a command would abort one. While it sends one,
   it reports no power and a busy channel. */
static void finish_acknowledgement(void) {
    radio_time end = (radio_time)(radio_now() + ACK_TICKS_MAX);
    rf_cca_request answer;
    while (is_receiving() && ask_cca(&answer) && answer.rssi_dbm == -128 &&
           (answer.info & RF_CCA_BY_ENERGY) == RF_CCA_ENERGY_BUSY &&
           radio_time_after(end, radio_now()) >= 0)
        continue;
}

static void stop_receiver(void) {
    finish_acknowledgement();
    if (!is_receiving())
        return;
    direct(RF_ABORT);
    for (uint32_t polls = 0; polls < POLLS_MAX && is_receiving(); polls++)
        continue;
}

void radio_idle(void) {
    stop_receiver();
    run_alone(RF_FS_OFF);
    RFC_DBELL_RFCPEIFG = 0;
}

void radio_sleep(void) {
    stop_receiver();
    run_alone(RF_FS_POWERDOWN);
    PRCM_RFCCLKG = 0;
    PRCM_CLKLOADCTL = LOAD;
    PRCM_PDCTL0RFC = 0;
    PRCM_PDCTL1RFC = 0;
}

void radio_wake(void) {
    power_up();
}

/* ---- Receiving. ---- */

static bool has_frame(void) {
    return oldest->status == RF_ENTRY_FINISHED;
}

/* Returns the entry of the oldest frame to the RF core. */
static void give_back(void) {
    oldest->status = RF_ENTRY_PENDING;
    oldest = oldest->next;
}

/* Returns the length of the oldest frame; 0 if there is none or it is not valid. */
static uint8_t frame_length(void) {
    uint8_t length = oldest->length;
    bool right = has_frame() && length > TRAILER && length <= sizeof oldest->data &&
                 (oldest->data[length - TRAILER + 1] & STATUS_WRONG) == 0;
    return right ? (uint8_t)(length - TRAILER) : 0;
}

static void start_receiver(void) {
    if (is_receiving())
        return;
    stale = false;
    doorbell((uint32_t)(uintptr_t)&rx);
    for (uint32_t polls = 0; polls < POLLS_MAX && rx.status < RF_ACTIVE; polls++)
        continue;
}

/* Also frees entries that the RF core gave up: it would never use them again. */
static void drop_frames(void) {
    for (uint8_t i = 0; i < ENTRIES; i++)
        if (entries[i].status >= RF_ENTRY_FINISHED)
            entries[i].status = RF_ENTRY_PENDING;
    oldest = queue.current;
    RFC_DBELL_RFCPEIFG = 0;
}

/* A running receiver keeps running unless the settings have changed. */
void radio_receive(void) {
    if (stale)
        stop_receiver();
    drop_frames();
    start_receiver();
}

void radio_listen(void) {
    if (stale)
        stop_receiver();
    while (oldest->status >= RF_ENTRY_FINISHED && frame_length() == 0)
        give_back();
    start_receiver();
}

static uint32_t word_at(const uint8_t *bytes) {
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

/* The RF core reports a frame at its end, with the time of its SFD. A frame that began before
   `until` is waited for. */
bool radio_wait_sfd(radio_time until, radio_time *sfd) {
    RFC_DBELL_RFCPEIFG = ~RF_RX_ENTRY_DONE;
    if (!has_frame() && !wait_for(RF_RX_ENTRY_DONE, until)) {
        radio_time end = (radio_time)(radio_now() + FRAME_TICKS_MAX);
        rf_cca_request answer;
        while (!has_frame() && ask_cca(&answer) && (answer.info & RF_CCA_BY_SYNC) != 0 &&
               radio_time_after(end, radio_now()) >= 0)
            continue;
    }
    uint8_t length = frame_length();
    if (length != 0)
        *sfd = time_of(word_at(oldest->data + length + 2));
    return length != 0;
}

bool radio_wait_frame(radio_time until) {
    (void)until; /* radio_wait_sfd has already waited for the frame's end */
    return has_frame();
}

uint8_t radio_read(uint8_t *frame, radio_reception *reception) {
    if (!has_frame())
        return 0;
    uint8_t length = frame_length();
    memcpy(frame, oldest->data, length);
    if (reception != 0 && length != 0) {
        reception->rssi_dbm = (int8_t)oldest->data[length];
        reception->lqi = (uint8_t)((oldest->data[length + 1] & 0x3f) * STATUS_LQI);
    }
    give_back();
    return length;
}

uint8_t radio_peek(uint8_t *frame, uint8_t count) {
    uint8_t length = frame_length();
    memcpy(frame, oldest->data, count < length ? count : length);
    return length;
}

/* The frame is already complete. */
uint8_t radio_arriving(void) {
    return frame_length();
}

void radio_fetch(uint8_t *to, uint8_t from, uint8_t count) {
    if ((uint32_t)from + count <= frame_length())
        memcpy(to, oldest->data + from, count);
}

bool radio_cca(void) {
    rf_cca_request answer;
    return wait_cca(&answer) && (answer.info & RF_CCA_STATE) == 0;
}

int8_t radio_rssi_dbm(void) {
    rf_cca_request answer;
    return wait_cca(&answer) ? answer.rssi_dbm : -128;
}

/* ---- Sending. ---- */

void radio_load(const uint8_t *frame, uint8_t length) {
    memcpy(loaded, frame, length);
    tx.length = length;
}

bool radio_transmit(radio_time *sfd) {
    finish_acknowledgement();
    /* The channel is set by starting the receiver. */
    if (stale || !is_receiving())
        radio_receive();
    RFC_DBELL_RFCPEIFG = 0;
    tx.start = RF_AT | RF_PAST_TOO;
    tx.start_time = RFC_RAT_RATCNT + TX_AHEAD_US * RAT_US;
    uint32_t count = tx.start_time + TX_SFD_US * RAT_US;
    if (!doorbell((uint32_t)(uintptr_t)&tx))
        return false;
    radio_time end = (radio_time)(radio_now() + TX_TICKS_MAX);
    while ((int32_t)(RFC_RAT_RATCNT - count) < 0)
        if (tx.status >= RF_ERROR && tx.status < RF_SUSPENDED)
            return false;
        else if (radio_time_after(end, radio_now()) < 0)
            return false;
    *sfd = time_of(count);
    return tx.status == RF_ACTIVE;
}

bool radio_transmit_if_clear(radio_time *sfd) {
    finish_acknowledgement();
    return radio_cca() && radio_transmit(sfd);
}

void radio_transmit_end(void) {
    wait_for(RF_LAST_FG_COMMAND_DONE, (radio_time)(radio_now() + FRAME_TICKS_MAX));
    drop_frames();
}
