/* Reads what a TelosB senses: its SHT11 over two pins, and two channels of the ADC12. */
#include <stdint.h>

#define REGISTER8(at) (*(volatile uint8_t *)(at))
#define REGISTER16(at) (*(volatile uint16_t *)(at))
#define P1IN REGISTER8(0x20)
#define P1OUT REGISTER8(0x21)
#define P1DIR REGISTER8(0x22)
#define WDTCTL REGISTER16(0x0120)
#define ADC12CTL0 REGISTER16(0x01a0)
#define ADC12CTL1 REGISTER16(0x01a2)
#define ADC12IFG REGISTER16(0x01a4)
#define ADC12MEM0 REGISTER16(0x0140)
#define ADC12MCTL0 REGISTER8(0x80)

enum { DATA = 1 << 5, CLOCK = 1 << 6, POWER = 1 << 7 };
enum { TEMPERATURE = 3, HUMIDITY = 5 };
enum { SENSOR = 10, LIGHT = 4 };

/* Temperature, humidity, the chip's sensor, A4. */
volatile uint16_t results[4];

static void data(int high) {
    if (high)
        P1DIR &= (uint8_t)~DATA; /* a resistor pulls it up */
    else
        P1DIR |= DATA;
}

static void clock(int high) {
    if (high)
        P1OUT |= CLOCK;
    else
        P1OUT &= (uint8_t)~CLOCK;
}

static int bit_of(int sent) {
    data(sent);
    clock(1);
    int read = (P1IN & DATA) != 0;
    clock(0);
    return read;
}

static uint8_t receive(int goes_on) {
    uint8_t byte = 0;
    for (int i = 0; i < 8; i++)
        byte = (uint8_t)(byte << 1 | bit_of(1));
    bit_of(!goes_on);
    return byte;
}

static uint16_t measure(uint8_t command) {
    data(1);
    clock(1);
    data(0);
    clock(0);
    clock(1);
    data(1);
    clock(0);
    for (int i = 7; i >= 0; i--)
        bit_of(command >> i & 1);
    if (bit_of(1))
        return 0xffff;
    while (P1IN & DATA) {
    }
    uint8_t high = receive(1);
    return (uint16_t)(high << 8 | receive(0));
}

static uint16_t convert(uint8_t channel) {
    ADC12CTL0 = 0;
    ADC12MCTL0 = 0x10 | channel;                  /* beside the reference */
    ADC12CTL1 = 0x0200;                           /* SHP */
    ADC12CTL0 = 0x0010 | 0x0020 | 0x0040 | 0xf00; /* on, with 2.5 V */
    ADC12CTL0 |= 3;
    while (!(ADC12IFG & 1)) {
    }
    return ADC12MEM0;
}

__attribute__((noinline, noreturn)) void done(void) {
    for (;;) {
    }
}

__attribute__((used)) static void run(void) {
    WDTCTL = 0x5a80;
    P1OUT = POWER;
    P1DIR = CLOCK | POWER;
    for (;;) {
        results[0] = measure(TEMPERATURE);
        results[1] = measure(HUMIDITY);
        results[2] = convert(SENSOR);
        results[3] = convert(LIGHT);
        done();
    }
}

__attribute__((naked, noreturn)) void start(void) {
    __asm__("mov #0x3900, r1\n call #run\n");
}
