/* The share of the core's time that an operating system takes: AES between the marker's edges,
   interrupted by a tick that counts time, checks the next timer and rearms itself, as small sensor
   operating systems do; optionally with periodic channel checks, as in a system that duty-cycles
   its radio. The serial line reports whether the result is right and the number of ticks. */
#include "aes.h"
#include "hal.h"
#include "radio.h"

enum { COMPARE_INTERRUPT = 0x0010, TICKS_A_SECOND = 128 };

/* A. Dunkels, The ContikiMAC radio duty cycling protocol (2011), section 2: two channel checks at
   each wake-up. The core waits for the RSSI inside the interrupt: 12 symbols of 16 us until the
   receiver is on, and 8 to average (SWRS041B, sections 14.3 and 23). Where nobody sends, the
   channel is clear from then on. */
enum { LOOKS = 2, RSSI_VALID_US_MAX = 1000 };

static volatile uint16_t clear;

static void look(void) {
    for (uint8_t i = 0; i < LOOKS; i++) {
        radio_receive();
        radio_time until = (radio_time)(radio_now() + radio_ticks(RSSI_VALID_US_MAX));
        while (!radio_cca() && (int16_t)(radio_now() - until) < 0)
            continue;
        clear = (uint16_t)(clear + radio_cca());
        radio_idle();
    }
}

static volatile bool is_ticking;

static volatile struct {
    uint32_t ticks, seconds, next_timer;
    uint8_t timer_due;
} now = {0, 0, UINT32_MAX, 0};

void tick(void) {
    /* Before that, the timer's interrupt belongs to the radio driver, which sleeps until it
       comes. */
    if (!is_ticking)
        return;
    TBCCR0 = (uint16_t)(TBCCR0 + TICK_PERIODS);
    now.ticks++;
    if (now.ticks % TICKS_A_SECOND == 0)
        now.seconds++;
    if (now.ticks >= now.next_timer)
        now.timer_due = 1;
    if (LOOK_TICKS != 0 && now.ticks % LOOK_TICKS == 0)
        look();
}

/* FIPS 197, appendix C.1. */
static const uint8_t key[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const uint8_t plaintext[16] = {0x00, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77,
                                      0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff};
static const uint8_t ciphertext[16] = {0x69, 0xc4, 0xe0, 0xd8, 0x6a, 0x7b, 0x04, 0x30,
                                       0xd8, 0xcd, 0xb7, 0x80, 0x70, 0xb4, 0xc5, 0x5a};

int main(void) {
    hal_init();
    aes_ctx context;
    uint8_t result[16];
    aes_init(&context, key);
    uint8_t right = LOOK_TICKS == 0 || radio_init();
    TBCTL = TIMER_ACLK | TIMER_CONTINUOUS | TIMER_CLEAR;
    if (TICK_PERIODS != 0) {
        TBCCR0 = TICK_PERIODS;
        TBCCTL0 = COMPARE_INTERRUPT;
        is_ticking = true;
        __asm__ volatile("eint");
    }
    hal_marker_high();
    for (uint16_t i = 0; i < TICK_BLOCKS; i++) {
        aes_encrypt(&context, result, plaintext, 1);
        right &= result[i % 16] == ciphertext[i % 16];
    }
    hal_marker_low();
    __asm__ volatile("dint\n\tnop");
    /* No other mote is on the air. */
    if (LOOK_TICKS != 0)
        right &= clear != 0 && clear == now.ticks / LOOK_TICKS * LOOKS;
    for (const char *text = right ? "right" : "wrong"; *text != 0; text++)
        hal_serial_write((uint8_t)*text);
    hal_serial_write(' ');
    for (uint8_t bit = 0; bit < 16; bit++)
        hal_serial_write((uint8_t)('0' + (now.ticks >> (15 - bit) & 1)));
    hal_serial_write(0);
    for (;;)
        continue;
}
