/* Section numbers are those of the MSP430x1xx family user's guide, SLAU049F. */
#include "hal.h"

#include <stdbool.h>

/* Section 4.3, basic clock module registers. */
enum {
    XT2OFF = 0x80,
    RSEL_MAX = 7,
    DCOR = 0x01,
    TAP_SHIFT = 5,
    TAP_MAX = 7,
    MOD_BITS = 0x10 /* highest bit of the modulator */
};
enum { CAPTURE_COMPARE_FLAG = 0x0001, CAPTURE_COMPARE_INTERRUPT = 0x0010 };

/* Periods of the crystal over which core cycles are counted. The count, rounded down, fits 16 bits
   up to 33 MHz. */
enum { WINDOW = 64 };
#define WINDOW_CYCLES ((uint16_t)((uint64_t)CLOCK_HZ * WINDOW / CRYSTAL_HZ))

/* Measured by hal_init; more accurate for hal_timer_ticks than the board file's nominal clock. */
static HAL_NOINIT uint16_t window_cycles;

static void wait_for_crystal(uint16_t period) {
    TBCCR0 = period;
    TBCCTL0 = 0;
    while ((TBCCTL0 & CAPTURE_COMPARE_FLAG) == 0)
        continue;
}

/* Core cycles in WINDOW periods of the crystal, to within one iteration of the waiting loop. */
static uint16_t measure(void) {
    TBCTL = TIMER_ACLK | TIMER_CONTINUOUS | TIMER_CLEAR;
    wait_for_crystal(2);
    TACTL = TIMER_SMCLK | TIMER_CONTINUOUS | TIMER_CLEAR;
    wait_for_crystal(2 + WINDOW);
    TACTL = 0;
    TBCTL = 0;
    return TAR;
}

static bool too_fast(uint8_t rsel, uint8_t dcoctl) {
    BCSCTL1 = XT2OFF | rsel;
    DCOCTL = dcoctl;
    window_cycles = measure();
    return window_cycles > WINDOW_CYCLES;
}

/* Section 4.2.5: the DCO's frequency varies by half from chip to chip and drifts. Count it against
   the crystal and step it up to the fastest setting that is not above CLOCK_HZ. */
static void start_clock(void) {
    /* The crystal takes some tenths of a second to start; these periods elapse only once it
       runs. */
    TBCTL = TIMER_ACLK | TIMER_CONTINUOUS | TIMER_CLEAR;
    wait_for_crystal(CRYSTAL_HZ / 4);

    BCSCTL2 = CLOCK_EXTERNAL_RESISTOR ? DCOR : 0;
    uint8_t rsel = 0;
    while (rsel < RSEL_MAX && !too_fast((uint8_t)(rsel + 1), 0))
        rsel++;
    uint8_t tap = 0;
    while (tap < TAP_MAX && !too_fast(rsel, (uint8_t)((tap + 1) << TAP_SHIFT)))
        tap++;
    uint8_t dcoctl = (uint8_t)(tap << TAP_SHIFT);
    for (uint8_t bit = MOD_BITS; bit != 0; bit >>= 1) {
        if (!too_fast(rsel, dcoctl | bit))
            dcoctl |= bit;
    }
    too_fast(rsel, dcoctl);
}

/* Section 13.3, USART registers in UART mode. */
enum {
    SWRST = 0x01,
    EIGHT_BITS = 0x10,
    SELECT_SMCLK = 0x30,
    TXEPT = 0x01,
};

static void start_serial(void) {
    SERIAL_SEL |= SERIAL_TX | SERIAL_RX;
    SERIAL_DIR |= SERIAL_TX;
    SERIAL_CTL = SWRST;
    SERIAL_CTL = SWRST | EIGHT_BITS;
    SERIAL_TCTL = SELECT_SMCLK | TXEPT;
    SERIAL_RCTL = 0;
    SERIAL_BR0 = SERIAL_DIVIDER & 0xff;
    SERIAL_BR1 = SERIAL_DIVIDER >> 8;
    SERIAL_MCTL = SERIAL_MODULATION;
    SERIAL_ME |= SERIAL_TX_FLAG | SERIAL_RX_FLAG;
    SERIAL_CTL = EIGHT_BITS;
}

void hal_init(void) {
    MARKER_SEL &= (uint8_t)~MARKER_BIT;
    MARKER_OUT &= (uint8_t)~MARKER_BIT;
    MARKER_DIR |= MARKER_BIT;
    start_clock();
    start_serial();
}

/* Waits in LPM0, in which SMCLK keeps running for the USART (section 2.3), so that a meter can tell
   from the current when the board works. A byte that has already come interrupts at once. */
uint8_t hal_serial_read(void) {
    SERIAL_IE |= SERIAL_RX_FLAG;
    __asm__ volatile("bis #0x0018, r2" ::: "memory"); /* CPUOFF, GIE */
    SERIAL_IE &= (uint8_t)~SERIAL_RX_FLAG;
    return SERIAL_RXBUF;
}

void hal_serial_write(uint8_t byte) {
    while ((SERIAL_IFG & SERIAL_TX_FLAG) == 0)
        continue;
    SERIAL_TXBUF = byte;
}

/* Sleeps in LPM3, in which the crystal keeps running (section 2.3). A millisecond is 33 of its
   periods, rounded up, to avoid a division, which would be a call to a runtime helper. The first
   period is incomplete. */
void hal_quiet(uint16_t ms) {
    enum { PART_MS = 1000, PERIODS = CRYSTAL_HZ / 1000 + 1 };
    while (ms > 0) {
        uint16_t part_ms = ms < PART_MS ? ms : PART_MS;
        ms -= part_ms;
        TBCCR0 = (uint16_t)(part_ms * PERIODS + 1);
        TBCCTL0 = CAPTURE_COMPARE_INTERRUPT;
        TBCTL = TIMER_ACLK | TIMER_CONTINUOUS | TIMER_CLEAR;
        __asm__ volatile("bis #0x00d8, r2" ::: "memory"); /* SCG1, SCG0, CPUOFF, GIE */
        TBCTL = 0;
        TBCCTL0 = 0;
    }
}

uint8_t *hal_stack_limit(void) {
    extern uint8_t stack_limit[];
    return stack_limit;
}

/* Timer_B holds 2 s. Its last period may be incomplete (250 cycles at 8 MHz) and the clock may have
   drifted by 0.1 % since it was counted: together less than the tolerance of half a revolution of
   Timer_A, 32768 cycles. */
uint32_t hal_timer_ticks(void) {
    bool overflowed = (TBCTL & TIMER_OVERFLOWED) != 0;
    TBCTL = 0;
    if (overflowed)
        return HAL_TIMER_OVERFLOW;
    uint16_t cycles = TAR;
    uint32_t about = (uint32_t)((uint64_t)TBR * window_cycles / WINDOW);
    int32_t behind = (int32_t)(about - cycles);
    uint16_t rounds = behind > 0 ? (uint16_t)(((uint32_t)behind + 0x8000u) >> 16) : 0;
    return (uint32_t)rounds << 16 | cycles;
}
