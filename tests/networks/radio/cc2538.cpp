// The CC2538's drivers over its radio, MAC timer, sleep timer and AES accelerator, simulated.
#include "ti-aes.hpp"

#include <sys/mman.h>

namespace chip {

enum { SHR_NS = 352000, SFD_FLAG = 2, ACCEPTED_FLAG = 32, DONE_FLAG = 64, TXDONE_FLAG = 2 };

static fifo rx;
static uint8_t tx[FIFO_BYTES];
static unsigned tx_bytes;
static bool is_listening, sfd_high, sampled_cca;
static uint64_t tx_sfd_ns, tx_end_ns, captured_ns;
static uint32_t flags0, flags1, last_end;
static volatile uint32_t *const ram = (volatile uint32_t *)0x40088000;

static void happen() {
    if (tx_sfd_ns != 0 && tx_sfd_ns <= now_ns) {
        captured_ns = tx_sfd_ns;
        flags0 |= SFD_FLAG;
        tx_end_ns = tx_sfd_ns + (tx_bytes + 1u) * (uint64_t)BYTE_NS;
        tx_sfd_ns = 0;
    }
    if (tx_end_ns != 0 && tx_end_ns <= now_ns) {
        tx_end_ns = 0;
        flags1 |= TXDONE_FLAG;
        is_listening = true;
    }
    for (arrival *a = next_arrival(); a != nullptr && a->sfd_ns <= now_ns; a = next_arrival()) {
        bool is_new = !sfd_high;
        if (!is_listening || tx_sfd_ns != 0 || tx_end_ns != 0 || rx.overflown ||
            (is_new && a->sfd_ns + BYTE_NS < now_ns)) {
            rx.arrives = sfd_high = false;
            arriving++;
            continue;
        }
        if (is_new) {
            captured_ns = a->sfd_ns;
            flags0 |= SFD_FLAG | ACCEPTED_FLAG;
        }
        sfd_high = true;
        unsigned before = rx.write;
        bool over = rx.take(*a);
        for (unsigned i = before; i < rx.write; i++)
            ram[i % FIFO_BYTES] = rx.ring[i % FIFO_BYTES];
        if (!over)
            break;
        sfd_high = false;
        if (!rx.overflown) {
            flags0 |= DONE_FLAG;
            last_end = rx.write % FIFO_BYTES;
        }
        arriving++;
    }
}

static void stop_sending() {
    tx_sfd_ns = tx_end_ns = 0;
}

static void transmit() {
    rx.arrives = sfd_high = false;
    tx_sfd_ns = now_ns + SHR_NS;
}

static void rfst_set(uint32_t code) {
    switch (code) {
    case 0xe3: // ISRXON
        stop_sending();
        is_listening = true;
        break;
    case 0xe9: // ISTXON
        transmit();
        break;
    case 0xea: // ISTXONCCA
        sampled_cca = is_listening && chance(3) != 0;
        if (sampled_cca)
            transmit();
        break;
    case 0xed: // ISFLUSHRX
        if (rx.arrives)
            arriving++;
        rx.clear();
        sfd_high = false;
        break;
    case 0xee: // ISFLUSHTX
        tx_bytes = 0;
        break;
    case 0xef: // ISRFOFF
        stop_sending();
        is_listening = rx.arrives = sfd_high = false;
        break;
    default:
        abort();
    }
}

static uint32_t rfdata_get() {
    return told(rx.pop()) & 0xff;
}
static void rfdata_set(uint32_t byte) {
    if (tx_bytes == FIFO_BYTES)
        abort(); // the driver must not
    tx[tx_bytes++] = (uint8_t)byte;
}
static uint32_t count_get() {
    return told(rx.count()) & 0xff;
}
static uint32_t first_get() {
    return told(rx.ring[rx.read % FIFO_BYTES]) & 0xff;
}
static uint32_t first_at_get() {
    return told(rx.read % FIFO_BYTES) & 0xff;
}
static uint32_t last_at_get() {
    return told(last_end) & 0xff;
}
static uint32_t flags0_get() {
    return told(flags0) & 0xff;
}
static void flags0_set(uint32_t value) {
    flags0 &= value;
}
static uint32_t flags1_get() {
    return told(flags1) & 0xff;
}
static void flags1_set(uint32_t value) {
    flags1 &= value;
}
static uint32_t fsm0_get() {
    bool is_on = is_listening || tx_sfd_ns != 0 || tx_end_ns != 0;
    return told(rx.overflown ? 17 : is_on ? 6 : 0) & 0xff;
}
static uint32_t fsm1_get() {
    bool sends = tx_sfd_ns != 0 || tx_end_ns != 0;
    uint32_t bits = (is_listening && !sends ? 1 : 0) | (sends ? 2 : 0) | (sampled_cca ? 8 : 0) |
                    (chance(4) != 0 ? 16 : 0) | (sfd_high ? 32 : 0);
    return told(bits) & 0xff;
}
static uint32_t rxenable_get() {
    return is_listening ? 0x80 : 0;
}
static uint32_t rssi_get() {
    return told(0xf0) & 0xff;
}
static uint32_t one() {
    return told(1);
}

// ---- Timers ----

static uint32_t latched, select_both;

static uint32_t mac_ticks(uint64_t ns) {
    return (uint32_t)(ns * 4 / 125); // 32 MHz
}
static void mtmsel_set(uint32_t value) {
    select_both = value;
}
static uint32_t mtm0_get() {
    latched = mac_ticks(select_both == 0x11 ? captured_ns : now_ns);
    return latched & 0xff;
}
template <unsigned Shift> static uint32_t latched_get() {
    return latched >> Shift & 0xff;
}
static uint32_t mtctrl_get() {
    return told(4);
}
static uint32_t st_latched;
static uint32_t st0_get() {
    st_latched = ticks_at(now_ns);
    return st_latched & 0xff;
}
template <unsigned Shift> static uint32_t st_get() {
    return st_latched >> Shift & 0xff;
}

} // namespace chip

#define PORT(name, get, set) static const chip::port name = {chip::get, chip::set}
PORT(RFCORE_SFR_RFST, one, rfst_set);
PORT(RFCORE_SFR_RFDATA, rfdata_get, rfdata_set);
PORT(RFCORE_SFR_RFIRQF0, flags0_get, flags0_set);
PORT(RFCORE_SFR_RFIRQF1, flags1_get, flags1_set);
PORT(RFCORE_XREG_RXFIFOCNT, count_get, ignore);
PORT(RFCORE_XREG_RXFIRST, first_get, ignore);
PORT(RFCORE_XREG_RXFIRST_PTR, first_at_get, ignore);
PORT(RFCORE_XREG_RXLAST_PTR, last_at_get, ignore);
PORT(RFCORE_XREG_FSMSTAT0, fsm0_get, ignore);
PORT(RFCORE_XREG_FSMSTAT1, fsm1_get, ignore);
PORT(RFCORE_XREG_RXENABLE, rxenable_get, ignore);
PORT(RFCORE_XREG_RSSI, rssi_get, ignore);
PORT(RFCORE_XREG_RSSISTAT, one, ignore);
PORT(RFCORE_SFR_MTMSEL, one, mtmsel_set);
PORT(RFCORE_SFR_MTM0, mtm0_get, ignore);
PORT(RFCORE_SFR_MTM1, latched_get<8>, ignore);
PORT(RFCORE_SFR_MTMOVF0, latched_get<16>, ignore);
PORT(RFCORE_SFR_MTMOVF1, latched_get<24>, ignore);
PORT(RFCORE_SFR_MTCTRL, mtctrl_get, ignore);
PORT(SMWDTHROSC_ST0, st0_get, ignore);
PORT(SMWDTHROSC_ST1, st_get<8>, ignore);
PORT(SMWDTHROSC_ST2, st_get<16>, ignore);
PORT(SMWDTHROSC_ST3, st_get<24>, ignore);
static uint32_t SYS_CTRL_RCGCRFC, SYS_CTRL_SCGCRFC, SYS_CTRL_DCGCRFC, SYS_CTRL_RCGCSEC;
static uint32_t SYS_CTRL_SCGCSEC, RFCORE_XREG_TXFILTCFG, RFCORE_XREG_AGCCTRL1;
static uint32_t RFCORE_XREG_FSCAL1, RFCORE_XREG_CCACTRL0, ANA_REGS_IVCTRL, RFCORE_XREG_SRCMATCH;
static uint32_t RFCORE_XREG_FRMCTRL0, RFCORE_XREG_FRMCTRL1, RFCORE_XREG_FIFOPCTRL;
static uint32_t RFCORE_XREG_TXPOWER, RFCORE_XREG_FREQCTRL, RFCORE_XREG_FRMFILT0;
static uint32_t RFCORE_XREG_RFIRQM0, RFCORE_XREG_RFIRQM1, RFCORE_SFR_RFERRF, RFCORE_SFR_MTMOVF2;
static uint32_t RFCORE_FFSM_PAN_ID0, RFCORE_FFSM_PAN_ID1, RFCORE_FFSM_SHORT_ADDR0;
static uint32_t RFCORE_FFSM_SHORT_ADDR1, extended_address[8];
#define RFCORE_FFSM_EXT_ADDR0 extended_address[0]

extern "C" {
#include "cc2538/radio.c"
}
namespace accelerator {
extern "C" {
#include "ti-aes/security.c"
}
} // namespace accelerator

void air_start() {
    void *fifo = mmap((void *)chip::ram, 0x1000, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (fifo != (void *)chip::ram || !radio_init())
        abort();
}

uint8_t air_loaded(uint8_t *frame) {
    if (chip::tx_bytes == 0 || chip::tx_bytes + 2u != chip::tx[0] + 1u)
        abort();
    memcpy(frame, chip::tx + 1, chip::tx_bytes - 1);
    return (uint8_t)(chip::tx_bytes - 1);
}
