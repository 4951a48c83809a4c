/* Registers and fields as in RM0041. */
#include "hal.h"
#include "series.h"

enum { HSEON = 1 << 16, HSERDY = 1 << 17, PLLON = 1 << 24, PLLRDY = 1 << 25 };
enum { PLL_FROM_HSE = 1 << 16, PLL_TIMES_3 = 1 << 18, SW_PLL = 2, SWS = 3 << 2, SWS_PLL = 2 << 2 };
enum { PORTS_A_TO_E = 0x7c, USART1_CLOCK = 1 << 14 };
enum { OUTPUT_50_MHZ = 3, ALTERNATE_50_MHZ = 11, FLOATING_INPUT = 4 };
enum { UE = 1 << 13, TE = 1 << 3, RE = 1 << 2, RXNE = 1 << 5, TXE = 1 << 7 };

/* 24 MHz: three times the crystal. */
void start_clock(void) {
    RCC_CR |= HSEON;
    while ((RCC_CR & HSERDY) == 0)
        continue;
    RCC_CFGR2 = 0;
    RCC_CFGR = PLL_FROM_HSE | PLL_TIMES_3;
    RCC_CR |= PLLON;
    while ((RCC_CR & PLLRDY) == 0)
        continue;
    RCC_CFGR |= SW_PLL;
    while ((RCC_CFGR & SWS) != SWS_PLL)
        continue;
    RCC_APB2ENR |= PORTS_A_TO_E | USART1_CLOCK;
}

void start_marker(void) {
    hal_marker_low();
    MARKER_CR = (MARKER_CR & ~(15ul << MARKER_CR_SHIFT)) | (uint32_t)OUTPUT_50_MHZ
                                                               << MARKER_CR_SHIFT;
}

/* USART1: PA9 and PA10. */
void start_serial(void) {
    GPIOA_CRH = (GPIOA_CRH & ~0xff0ul) | ALTERNATE_50_MHZ << 4 | FLOATING_INPUT << 8;
    USART1_BRR = SERIAL_DIVIDER;
    USART1_CR1 = UE | TE | RE;
    serial_interrupt_wakes();
}

static void wait_for(uint32_t flag) {
    /* The interrupt enables in CR1 have the same bit positions as the flags in SR. */
    USART1_CR1 = UE | TE | RE | flag;
    for (;;) {
        serial_interrupt_forget();
        if ((USART1_SR & flag) != 0)
            break;
        sleep_until_serial_interrupt();
    }
    USART1_CR1 = UE | TE | RE;
}

uint8_t hal_serial_read(void) {
    wait_for(RXNE);
    return (uint8_t)USART1_DR;
}

void hal_serial_write(uint8_t byte) {
    wait_for(TXE);
    USART1_DR = byte;
}
