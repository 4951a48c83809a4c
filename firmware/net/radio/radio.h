/* One interface to all radios for IEEE 802.15.4 frames.

   A driver is its own part, firmware/net/NAME, which a board's file names under [radio]. It
   implements the functions below, and its header radio-driver.h defines the macros below; a
   function may also be static inline there. There are no function pointers: a program is linked
   with one driver.

   A driver
   - polls: it enables no interrupt whose handler does more than wake the core;
   - never hangs: each wait for the radio has a time limit;
   - trusts nothing that was received: a frame with a length above RADIO_PSDU_BYTES_MAX, or with
     more bytes than the FIFO holds, does not exist;
   - keeps time with a counter of the 32,768 Hz crystal, which hal_quiet and hal_timer_* must not
     use while the radio is in use.

   radio-driver.h defines these and says where the times come from:
   - RADIO_SYMBOL_US, RADIO_BYTE_US: the PHY's times, of which those of the layers above are made.
   - RADIO_SYNC_BYTES, RADIO_HEADER_BYTES: on the air before a frame, up to the SFD and after it.
   - RADIO_PSDU_BYTES_MAX: the longest frame, with its FCS of RADIO_FCS_BYTES.
   - RADIO_CHANNEL_MIN, RADIO_CHANNEL_MAX.
   - RADIO_TX_LEAD_TICKS: from the strobe in radio_transmit to the end of the SFD on air, rounded to
     the nearest tick. A slot calls radio_transmit this long before the SFD is due.
   - RADIO_RX_LEAD_TICKS: from radio_receive until the radio can hear a preamble, rounded up.
   - RADIO_HAS_AES 1: radio_aes exists.
   - RADIO_HAS_CCM 1: radio_ccm_load and radio_ccm_read exist. */
#ifndef RADIO_H
#define RADIO_H

#include <stdbool.h>
#include <stdint.h>

enum { RADIO_TICK_HZ = 32768 };

/* Ticks of the crystal, modulo 2^16. Two times can be compared if they are less than a second
   apart. */
typedef uint16_t radio_time;

static inline int16_t radio_time_after(radio_time a, radio_time b) {
    return (int16_t)(uint16_t)(a - b);
}

/* Converts microseconds to ticks, to the nearest one; for constants and for times below 131 ms. */
static inline uint16_t radio_ticks(uint32_t us) {
    return (uint16_t)((us * 4096u + 62500u) / 125000u);
}

/* This device's addresses, so that the radio itself can drop frames for others and acknowledge
   ours. */
typedef struct {
    uint16_t pan;
    uint16_t short_address;
    uint8_t extended_address[8]; /* in transmission order: last byte of the EUI-64 first */
    bool acknowledge; /* frames that request it, after the turnaround time: AIFS, 192 us */
} radio_filter;

/* The radio's measurements of a received frame. */
typedef struct {
    int8_t rssi_dbm;
    uint8_t lqi;
} radio_reception;

/* ---- The radio ---- */

/* Brings the radio up from reset: regulator, crystal, registers, timebase. It is then idle (crystal
   on, receiver off), accepts every frame with a correct FCS and acknowledges none. Returns false if
   the radio does not respond. */
bool radio_init(void);

/* RADIO_CHANNEL_MIN to RADIO_CHANNEL_MAX. Takes effect with the next radio_transmit or
 * radio_receive. */
void radio_channel(uint8_t channel);

/* Null: accept every frame, acknowledge none. */
void radio_set_filter(const radio_filter *filter);

/* Receiver and transmitter off, crystal on. Received frames and the loaded frame are kept. */
void radio_idle(void);

/* radio_sleep turns the radio off, after any pending acknowledgement, and so loses what it stored
   (FIFOs, keys). radio_wake turns it on again, idle, with the driver's registers and filter
   restored. */
void radio_sleep(void);
void radio_wake(void);

/* ---- Sending ---- */

/* Loads the next frame to send, without its FCS, which the radio adds. It stays loaded after
   radio_transmit, so that it can be sent again without another load. 1 to RADIO_FRAME_BYTES_MAX
   bytes. */
void radio_load(const uint8_t *frame, uint8_t length);

/* Sends the loaded frame now, whether or not the channel is clear. Returns when the SFD has gone
   out, with the time at its end; false if it did not go out. */
bool radio_transmit(radio_time *sfd);

/* Sends the loaded frame if the channel is clear; the receiver must have been on for 128 us.
   Returns false if the channel was busy and nothing was sent. */
bool radio_transmit_if_clear(radio_time *sfd);

/* Waits until the frame has left, for at most the time of the longest frame. The receiver is then
   on, with an empty FIFO, in time for an acknowledgement AIFS (192 us) later; the radios switch by
   themselves. */
void radio_transmit_end(void);

/* ---- Receiving ---- */

/* Turns the receiver on, with an empty FIFO. */
void radio_receive(void);

/* Turns the receiver on, or keeps it on; whole frames in its FIFO stay until radio_read has taken
   them. A receiver whose FIFO had overflowed resumes once they are taken. */
void radio_listen(void);

/* Waits for an SFD and returns the time of its end, as captured by the hardware; false if none came
   before `until`. It may sleep meanwhile. An SFD that came before the call and was not yet reported
   counts. */
bool radio_wait_sfd(radio_time until, radio_time *sfd);

/* Waits until the frame of this SFD has been received completely. Returns false if it has not been
   by `until`, was aborted, has a wrong FCS, or is not for us. A wrong frame stays until
   radio_read. */
bool radio_wait_frame(radio_time until);

/* Takes a received frame out of the FIFO, without length and FCS, and returns its length. Returns 0
   if there is none or it is not valid; an invalid frame is removed from the FIFO too. `frame` has
   room for RADIO_FRAME_BYTES_MAX bytes; `reception` may be null. */
uint8_t radio_read(uint8_t *frame, radio_reception *reception);

/* Copies the first `count` bytes of a received frame, or all if it is shorter, and leaves it in the
   FIFO. Returns the frame's length as radio_read does. */
uint8_t radio_peek(uint8_t *frame, uint8_t count);

/* For a frame that is still arriving, after radio_wait_sfd: returns its length without the FCS as
   soon as it is known; 0 if the length is not valid. */
uint8_t radio_arriving(void);

/* Copies bytes of the arriving frame, from byte `from` on, once they have arrived, without
   consuming them. They must be within the length that radio_arriving returned. Whether the frame is
   correct, only radio_wait_frame tells afterwards. */
void radio_fetch(uint8_t *to, uint8_t from, uint8_t count);

/* Returns whether the channel is clear by the radio's threshold; the receiver must have been on for
   128 us. */
bool radio_cca(void);

int8_t radio_rssi_dbm(void);

/* ---- Time ---- */

radio_time radio_now(void);

/* Sleeps until the counter reaches `when`; returns at once if `when` is not ahead, and sleeps on
   after any other wake-up. Uses the deepest sleep that preserves the radio's state, the counter and
   its SFD capture. */
void radio_sleep_until(radio_time when);

/* ---- Security (RADIO_HAS_AES, RADIO_HAS_CCM) ---- */

/* Encrypts 16-byte blocks with AES-128, one after the other; out may be in. Where RADIO_KEYS_STAY
   is 1 (a macro of the program: the key at an address never changes), a driver may leave keys in
   the radio and compare them only by pointer; otherwise it loads the key on each call. */
void radio_keep_key(const uint8_t key[16]); /* if keys stay, loads one before it is used */

void radio_aes(const uint8_t key[16], uint8_t *out, const uint8_t *in, uint8_t blocks);

/* The parameters of IEEE 802.15.4's CCM* besides the frame: the first `open` bytes are only
   authenticated; the rest, up to the MIC, is encrypted too if `encrypt`, else also only
   authenticated. */
typedef struct {
    const uint8_t *key;   /* 16 bytes */
    const uint8_t *nonce; /* 13 bytes */
    uint8_t open;
    uint8_t mic_bytes; /* 0, 4, 8 or 16 */
    bool encrypt;
} radio_ccm;

/* Secures a frame of `length` bytes without its MIC and loads it, so that radio_transmit sends it
   with its MIC and FCS. The driver may change `frame`, which has room for the MIC. Returns whether
   the hardware succeeded. */
bool radio_ccm_load(const radio_ccm *ccm, uint8_t *frame, uint8_t length);

/* While a frame of known length arrives: prepares the radio in advance for radio_ccm_read. */
void radio_ccm_expect(const radio_ccm *ccm, uint8_t length);

/* Takes the received frame out of the FIFO, decrypted and verified, with its MIC. Returns its
   length as radio_read does, including the MIC; 0 if the MIC is wrong or the frame is shorter than
   open and MIC, and then `frame` holds nothing that was decrypted. */
uint8_t radio_ccm_read(const radio_ccm *ccm, uint8_t *frame, radio_reception *reception);

#include "radio-driver.h"

enum { RADIO_FRAME_BYTES_MAX = RADIO_PSDU_BYTES_MAX - RADIO_FCS_BYTES }; /* without the FCS */

#endif
