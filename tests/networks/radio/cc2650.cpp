// The CC2650's drivers over its RF core, clock and AES accelerator, simulated: what the core does
// with commands and with the queue of received frames (SWCU117, chapter Radio).
#include "ti-aes.hpp"

// The driver's own structures in memory; their pointers have 64 bits here.
#define _Static_assert(...) static_assert(true)
extern "C" {
#include "cc2650/rf-core.h"
}

namespace chip {

enum { TX_SHR_NS = 352000, RAT_NS = 250, ENTRY_DONE = 1 << 23, LAST_DONE = 8 };

static rf_ieee_rx *receiver;
static rf_ieee_tx *sender;
static uint64_t tx_start_ns, tx_end_ns;
static uint32_t flags, command_status;

static uint32_t rat_at(uint64_t ns) {
    return (uint32_t)(ns / RAT_NS);
}

// Puts a frame into the queue if there is room and the frame is correct; a lying core writes
// anything.
static void deliver(const arrival &a) {
    rf_entry *entry = receiver->queue->current;
    unsigned length = a.length & 0x7fu;
    if (entry == nullptr || entry->status != RF_ENTRY_PENDING)
        return;
    bool is_lie = lies > 0;
    if (!is_lie && (!a.fcs_right || length < RADIO_FCS_BYTES))
        return;
    unsigned bytes = length < RADIO_FCS_BYTES ? 0 : length - RADIO_FCS_BYTES;
    uint32_t time = rat_at(a.sfd_ns);
    memcpy(entry->data, a.bytes, bytes);
    entry->data[bytes] = (uint8_t)(-30 - (int)chance(60));
    entry->data[bytes + 1] = (uint8_t)told(0x30);
    memcpy(entry->data + bytes + 2, &time, sizeof time);
    entry->length = (uint8_t)told(bytes + 6);
    // An entry left pending, active or busy would belong to the core for ever.
    uint8_t status = (uint8_t)told(RF_ENTRY_FINISHED);
    entry->status = status < RF_ENTRY_FINISHED ? (uint8_t)RF_ENTRY_FINISHED : status;
    receiver->queue->current = entry->next;
    flags |= ENTRY_DONE;
}

static void happen() {
    if (tx_start_ns != 0 && tx_start_ns <= now_ns) {
        sender->status = RF_ACTIVE;
        tx_end_ns = tx_start_ns + TX_SHR_NS + (sender->length + 3u) * (uint64_t)BYTE_NS;
        tx_start_ns = 0;
    }
    if (tx_end_ns != 0 && tx_end_ns <= now_ns) {
        sender->status = RF_DONE;
        tx_end_ns = 0;
        flags |= LAST_DONE;
        if (receiver != nullptr)
            receiver->status = RF_ACTIVE;
    }
    // A frame is reported when it ends. One that begins while nobody listens is lost.
    static bool is_hearing;
    for (arrival *a = next_arrival(); a != nullptr && a->sfd_ns <= now_ns; a = next_arrival()) {
        bool can_hear = receiver != nullptr && tx_start_ns == 0 && tx_end_ns == 0;
        bool is_over = a->sfd_ns + ((a->length & 0x7fu) + 1) * (uint64_t)BYTE_NS <= now_ns;
        is_hearing = can_hear && (is_hearing || a->sfd_ns + BYTE_NS > now_ns);
        if (is_hearing && !is_over)
            break;
        if (is_hearing)
            deliver(*a);
        is_hearing = false;
        arriving++;
    }
}

static void direct(uint32_t number) {
    if (number == RF_ABORT && receiver != nullptr) {
        receiver->status = RF_DONE + 1;
        receiver = nullptr;
    }
}

static void answer_cca(rf_cca_request *request) {
    const arrival *a = next_arrival();
    bool hears = a != nullptr && a->sfd_ns <= now_ns;
    request->rssi_dbm = (int8_t)told(hears ? (uint32_t)-50 : (uint32_t)-95);
    request->info = (uint8_t)told(hears ? 0x45 : 0);
}

static void command(uint32_t value) {
    command_status = RF_CMDSTA_DONE;
    if ((value & 1) != 0) {
        direct(value >> 16);
        return;
    }
    if (value % 4 != 0)
        abort();
    rf_operation *operation = (rf_operation *)(uintptr_t)value;
    switch (operation->number) {
    case RF_RADIO_SETUP:
    case RF_FS_OFF:
    case RF_FS_POWERDOWN:
        operation->status = RF_DONE;
        break;
    case RF_IEEE_RX:
        receiver = (rf_ieee_rx *)operation;
        receiver->status = RF_ACTIVE;
        break;
    case RF_IEEE_TX:
        sender = (rf_ieee_tx *)operation;
        if (receiver == nullptr) {
            command_status = 0x83; // no context
            break;
        }
        if (sender->length > RADIO_FRAME_BYTES_MAX)
            abort();
        sender->status = 1; // pending
        receiver->status = RF_SUSPENDED;
        tx_start_ns = now_ns + (sender->start_time - rat_at(now_ns)) * (uint64_t)RAT_NS;
        break;
    case RF_IEEE_CCA_REQ:
        if (receiver == nullptr)
            command_status = 0x83;
        else
            answer_cca((rf_cca_request *)operation);
        break;
    default:
        abort();
    }
}

static uint32_t command_status_get() {
    return told(command_status);
}
static uint32_t flags_get() {
    return told(flags);
}
static void flags_set(uint32_t kept) {
    flags &= kept;
}
static uint32_t rat_get() {
    return rat_at(now_ns);
}
static uint32_t on() {
    return 1;
}
static uint32_t load_done() {
    return 2;
}
// Seconds, and 2^-32 of them: the two are only sometimes of the same time.
static uint64_t latched;
static uint32_t seconds_get() {
    latched = now_ns;
    return (uint32_t)(latched / 1000000000);
}
static uint32_t subseconds_get() {
    return (uint32_t)((latched % 1000000000 << 32) / 1000000000);
}

} // namespace chip

#define PORT(name, get, set) static const chip::port name = {chip::get, chip::set}
PORT(RFC_DBELL_CMDR, on, command);
PORT(RFC_DBELL_CMDSTA, command_status_get, ignore);
PORT(RFC_DBELL_RFCPEIFG, flags_get, flags_set);
PORT(RFC_RAT_RATCNT, rat_get, ignore);
PORT(AON_RTC_SEC, seconds_get, ignore);
PORT(AON_RTC_SUBSEC, subseconds_get, ignore);
PORT(PRCM_PDSTAT0RFC, on, ignore);
PORT(PRCM_PDSTAT1RFC, on, ignore);
PORT(PRCM_CLKLOADCTL, load_done, ignore);
static uint32_t PRCM_RFCMODESEL, PRCM_PDCTL0RFC, PRCM_PDCTL1RFC, PRCM_RFCCLKG, RFC_PWR_PWMCLKEN;
static uint32_t RFC_DBELL_RFCPEIEN, RFC_DBELL_RFCPEISL, RFC_DBELL_RFACKIFG, PRCM_SECDMACLKGR;
static uint32_t PRCM_SECDMACLKGS, AON_RTC_CTL, AON_RTC_CH0CMP, AON_RTC_EVFLAGS, AON_RTC_CHCTL;

static void finish_writes() {
}

extern "C" {
#include "cc2650/radio.c"
}
namespace accelerator {
extern "C" {
#include "ti-aes/security.c"
}
} // namespace accelerator

void air_start() {
    if (!radio_init())
        abort();
}

uint8_t air_loaded(uint8_t *frame) {
    memcpy(frame, tx.payload, tx.length);
    return tx.length;
}
