/* Registers and fields as in RM0432. */
#include "hal.h"
#include "series.h"

enum { HSION = 1 << 8, HSIRDY = 1 << 10, PLLON = 1 << 24, PLLRDY = 1 << 25 };
/* HSI16 times 10 by 8: 20 MHz, the fastest that flash can be read without wait states. */
enum { PLL_FROM_HSI16 = 2, PLL_TIMES_10 = 10 << 8, PLL_BY_8 = 3 << 25, PLLREN = 1 << 24 };
enum { SW_PLL = 3, SWS = 3 << 2, SWS_PLL = 3 << 2 };
enum { PORTS = 0x1ff, POWER_CLOCK = 1 << 28, LPUART1_CLOCK = 1 };
enum { IOSV = 1 << 9 };
enum { OUTPUT = 1, ALTERNATE = 2, LPUART1_FUNCTION = 8 };
enum { UE = 1, RE = 1 << 2, TE = 1 << 3, RXNE = 1 << 5, TXE = 1 << 7 };

void start_clock(void) {
    RCC_CR |= HSION;
    while ((RCC_CR & HSIRDY) == 0)
        continue;
    RCC_PLLCFGR = PLL_FROM_HSI16 | PLL_TIMES_10 | PLL_BY_8 | PLLREN;
    RCC_CR |= PLLON;
    while ((RCC_CR & PLLRDY) == 0)
        continue;
    RCC_CFGR = SW_PLL;
    while ((RCC_CFGR & SWS) != SWS_PLL)
        continue;
    RCC_AHB2ENR |= PORTS;
    RCC_APB1ENR1 |= POWER_CLOCK;
    RCC_APB1ENR2 |= LPUART1_CLOCK;
    PWR_CR2 |= IOSV; /* the supply of port G is there */
}

void start_marker(void) {
    hal_marker_low();
    MARKER_MODER = (MARKER_MODER & ~(3ul << MARKER_SHIFT)) | (uint32_t)OUTPUT << MARKER_SHIFT;
}

/* LPUART1: PG7 and PG8. */
void start_serial(void) {
    GPIOG_AFRL = (GPIOG_AFRL & ~(15ul << 28)) | (uint32_t)LPUART1_FUNCTION << 28;
    GPIOG_AFRH = (GPIOG_AFRH & ~15ul) | LPUART1_FUNCTION;
    GPIOG_MODER = (GPIOG_MODER & ~(15ul << 14)) | (uint32_t)(ALTERNATE | ALTERNATE << 2) << 14;
    LPUART1_BRR = SERIAL_DIVIDER;
    LPUART1_CR1 = UE | TE | RE;
    serial_interrupt_wakes();
}

static void wait_for(uint32_t flag) {
    /* The interrupt enables in CR1 have the same bit positions as the flags in ISR. */
    LPUART1_CR1 = UE | TE | RE | flag;
    for (;;) {
        serial_interrupt_forget();
        if ((LPUART1_ISR & flag) != 0)
            break;
        sleep_until_serial_interrupt();
    }
    LPUART1_CR1 = UE | TE | RE;
}

uint8_t hal_serial_read(void) {
    wait_for(RXNE);
    return (uint8_t)LPUART1_RDR;
}

void hal_serial_write(uint8_t byte) {
    wait_for(TXE);
    LPUART1_TDR = byte;
}
