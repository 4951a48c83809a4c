/* One interface to all radios of IEEE 802.15.4 at 2.4 GHz (O-QPSK, 250 kb/s).

   A driver is a part of its own, firmware/net/NAME, which a board's file names under [radio]. It
   defines the functions below, and its header radio-driver.h the macros below; a function may also
   be static inline there. There are no function pointers: a program is linked with one driver.

   A driver
   - is polled: it enables no interrupt whose handler does anything but wake the core;
   - never hangs: what it waits for in the radio has a bound;
   - trusts nothing that was received: a length above RADIO_PSDU_BYTES_MAX or a count that is not in
     the FIFO is a frame that is not there;
   - keeps time by a counter of the 32,768 Hz crystal that hal_quiet and hal_timer_* of the same
     program do not share with it while radio_init's user runs.

   radio-driver.h defines
     RADIO_TX_LEAD_TICKS   from the strobe in radio_transmit to the end of the SFD on air, rounded
   to the nearest tick: a slot's code calls it so much before the SFD is due RADIO_RX_LEAD_TICKS
   from radio_receive until the radio hears a preamble, rounded up RADIO_HAS_AES         1:
   radio_aes is there RADIO_HAS_CCM         1: radio_ccm_load and radio_ccm_read are there and says
   where these times come from. */
#ifndef RADIO_H
#define RADIO_H

#include <stdbool.h>
#include <stdint.h>

enum {
    RADIO_TICK_HZ = 32768,
    RADIO_CHANNEL_MIN = 11,
    RADIO_CHANNEL_MAX = 26,
    RADIO_FCS_BYTES = 2,
    RADIO_PSDU_BYTES_MAX = 127,
    RADIO_FRAME_BYTES_MAX = RADIO_PSDU_BYTES_MAX - RADIO_FCS_BYTES, /* without the FCS */
    RADIO_BYTE_US = 32
};

/* Ticks of the crystal, modulo 2^16: two times can be compared that are less than a second apart.
 */
typedef uint16_t radio_time;

static inline int16_t radio_time_after(radio_time a, radio_time b) {
    return (int16_t)(uint16_t)(a - b);
}

/* Microseconds to ticks, to the nearest one; for constants and for times below 131 ms. */
static inline uint16_t radio_ticks(uint32_t us) {
    return (uint16_t)((us * 4096u + 62500u) / 125000u);
}

/* Whom a frame is for, so that the radio can drop others' and acknowledge ours by itself. */
typedef struct {
    uint16_t pan;
    uint16_t short_address;
    uint8_t extended_address[8]; /* in the order of transmission: last byte of the EUI-64 first */
    bool acknowledge; /* frames that ask for it, after the turnaround time: AIFS, 192 us */
} radio_filter;

/* What the radio says of a frame that it received. */
typedef struct {
    int8_t rssi_dbm;
    uint8_t lqi;
} radio_reception;

/* ---- The radio ---- */

/* Brings the radio up from reset: regulator, crystal, registers, timebase. Afterwards it is idle
   (crystal on, receiver off), takes every frame with a right FCS and acknowledges none. False: it
   does not answer. */
bool radio_init(void);

/* 11 to 26. Takes effect with the next radio_transmit or radio_receive. */
void radio_channel(uint8_t channel);

/* Null: takes every frame, acknowledges none. */
void radio_set_filter(const radio_filter *filter);

/* Receiver and transmitter off, crystal on. What was received and what is loaded stay. */
void radio_idle(void);

/* Off, with what that forgets (FIFOs, keys), and on again to idle. Registers that the driver set
   and the filter are as they were. An acknowledgement that is due goes out before. */
void radio_sleep(void);
void radio_wake(void);

/* ---- Sending ---- */

/* Loads the next frame to be sent, without its FCS, which the radio adds. It stays loaded after
   radio_transmit until the next load: sending it again needs no load. 1 to RADIO_FRAME_BYTES_MAX
   bytes. */
void radio_load(const uint8_t *frame, uint8_t length);

/* Sends what is loaded, now, whatever the channel holds. Returns when the SFD has gone out, and the
   time at its end; false: it did not go out. */
bool radio_transmit(radio_time *sfd);

/* Sends what is loaded if the channel is clear; the receiver must have been on for 128 us.
   False: it was not clear, nothing is sent. */
bool radio_transmit_if_clear(radio_time *sfd);

/* Until the frame has left, or a bound of a longest frame's time. The receiver is then on, with an
   empty FIFO, in time for an acknowledgement that comes AIFS (192 us) later; as the radios do by
   themselves. */
void radio_transmit_end(void);

/* ---- Receiving ---- */

/* Receiver on, with an empty FIFO. */
void radio_receive(void);

/* Receiver on; whole frames that it holds stay, until radio_read has taken them all. A receiver
   that could not hold the last one goes on once they are taken. */
void radio_listen(void);

/* Waits for an SFD; its time is that of its end, by the hardware's capture. False: none came before
   `until`. It may sleep meanwhile. An SFD that came before the call and was not asked for counts.
 */
bool radio_wait_sfd(radio_time until, radio_time *sfd);

/* Waits until the frame that this SFD began has been received whole. False: not before `until`, or
   it was aborted, its FCS is wrong, or it is not for us. A wrong one stays until radio_read. */
bool radio_wait_frame(radio_time until);

/* Takes a received frame out of the FIFO, without length and FCS. Returns its length; 0: there is
   none, or it is no frame, or a wrong one, which then is out of the FIFO too. `frame` has room for
   RADIO_FRAME_BYTES_MAX bytes; `reception` may be null. */
uint8_t radio_read(uint8_t *frame, radio_reception *reception);

/* Copies the first bytes of a received frame and leaves it in the FIFO: fewer if it is shorter.
   Returns the frame's length as radio_read does. */
uint8_t radio_peek(uint8_t *frame, uint8_t count);

/* While a frame still arrives, after radio_wait_sfd: its length without the FCS, as soon as it is
   known; 0: it is no frame's. */
uint8_t radio_arriving(void);

/* Copies bytes of the frame that arrives, from its byte `from` on, as soon as they have arrived;
   they stay where they are. They must be within the length that radio_arriving told. Whether the
   frame is right, radio_wait_frame says afterwards. */
void radio_fetch(uint8_t *to, uint8_t from, uint8_t count);

/* The channel is clear by the radio's threshold; the receiver must have been on for 128 us. */
bool radio_cca(void);

int8_t radio_rssi_dbm(void);

/* ---- Time ---- */

radio_time radio_now(void);

/* Sleeps until the counter reaches `when`; at once where it is not ahead. Other waking does not
   end it. The deepest sleep that keeps the radio's state, the counter and its SFD capture. */
void radio_sleep_until(radio_time when);

/* ---- Security (RADIO_HAS_AES, RADIO_HAS_CCM) ---- */

/* AES-128 of blocks of 16 bytes, one after the other; out may be in. A driver may keep the key
   where it is: it compares keys only by their pointers where RADIO_KEYS_STAY is 1 (a macro of the
   program: keys at one address never change), else it loads the key for each call. */
void radio_keep_key(
    const uint8_t key[16]); /* where keys stay: brings one there before it is used */

void radio_aes(const uint8_t key[16], uint8_t *out, const uint8_t *in, uint8_t blocks);

/* What CCM* of IEEE 802.15.4 takes besides a frame: the frame's first `open` bytes are only
   authenticated; the rest, up to the MIC, is encrypted where `encrypt`, else authenticated. */
typedef struct {
    const uint8_t *key;   /* 16 bytes */
    const uint8_t *nonce; /* 13 bytes */
    uint8_t open;
    uint8_t mic_bytes; /* 0, 4, 8 or 16 */
    bool encrypt;
} radio_ccm;

/* Secures a frame of `length` bytes without its MIC and loads it: afterwards radio_transmit sends
   it with its MIC and FCS. Whether `frame` is changed is the driver's choice; it has room for the
   MIC. Tells whether the hardware did it. */
bool radio_ccm_load(const radio_ccm *ccm, uint8_t *frame, uint8_t length);

/* While a frame arrives whose length is known: what radio_ccm_read of it needs is put into the
   radio already. */
void radio_ccm_expect(const radio_ccm *ccm, uint8_t length);

/* Takes the received frame out of the FIFO, decrypted and verified, with its MIC. Returns its
   length as radio_read does, MIC included; 0: the MIC is wrong or it is shorter than open and MIC,
   and then nothing that was decrypted is left in `frame`. */
uint8_t radio_ccm_read(const radio_ccm *ccm, uint8_t *frame, radio_reception *reception);

#include "radio-driver.h"

#endif
