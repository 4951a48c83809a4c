/* Registers and fields as in RM0033. */
#include "hal.h"
#include "series.h"

enum { HSEON = 1 << 16, HSERDY = 1 << 17, HSEBYP = 1 << 18, PLLON = 1 << 24, PLLRDY = 1 << 25 };
/* The 8 MHz of the board's debugger by 8, times 240, by 2: 120 MHz. */
enum { PLL_M_8 = 8, PLL_N_240 = 240 << 6, PLL_FROM_HSE = 1 << 22, PLL_Q_5 = 5 << 24 };
/* By 4: 30 MHz, the fastest that flash can be read without wait states. */
enum { HPRE_BY_4 = 9 << 4, SW_PLL = 2, SWS = 3 << 2, SWS_PLL = 2 << 2 };
enum { PREFETCH_AND_CACHES = 7 << 8 };
enum { PORTS = 0x1ff, USART3_CLOCK = 1 << 18 };
enum { OUTPUT = 1, ALTERNATE = 2, USART3_FUNCTION = 7 };
enum { UE = 1 << 13, TE = 1 << 3, RE = 1 << 2, RXNE = 1 << 5, TXE = 1 << 7 };

void start_clock(void) {
    RCC_CR |= HSEBYP;
    RCC_CR |= HSEON;
    while ((RCC_CR & HSERDY) == 0)
        continue;
    RCC_PLLCFGR = PLL_M_8 | PLL_N_240 | PLL_FROM_HSE | PLL_Q_5;
    RCC_CFGR = HPRE_BY_4;
    RCC_CR |= PLLON;
    while ((RCC_CR & PLLRDY) == 0)
        continue;
    FLASH_ACR = PREFETCH_AND_CACHES;
    RCC_CFGR = HPRE_BY_4 | SW_PLL;
    while ((RCC_CFGR & SWS) != SWS_PLL)
        continue;
    RCC_AHB1ENR |= PORTS;
    RCC_APB1ENR |= USART3_CLOCK;
}

void start_marker(void) {
    hal_marker_low();
    MARKER_MODER = (MARKER_MODER & ~(3ul << MARKER_SHIFT)) | (uint32_t)OUTPUT << MARKER_SHIFT;
}

/* USART3: PD8 and PD9. */
void start_serial(void) {
    GPIOD_AFRH = (GPIOD_AFRH & ~0xfful) | USART3_FUNCTION | USART3_FUNCTION << 4;
    GPIOD_MODER = (GPIOD_MODER & ~(15ul << 16)) | (uint32_t)(ALTERNATE | ALTERNATE << 2) << 16;
    USART3_BRR = SERIAL_DIVIDER;
    USART3_CR1 = UE | TE | RE;
    serial_interrupt_wakes();
}

static void wait_for(uint32_t flag) {
    /* The interrupt enables in CR1 have the same bit positions as the flags in SR. */
    USART3_CR1 = UE | TE | RE | flag;
    for (;;) {
        serial_interrupt_forget();
        if ((USART3_SR & flag) != 0)
            break;
        sleep_until_serial_interrupt();
    }
    USART3_CR1 = UE | TE | RE;
}

uint8_t hal_serial_read(void) {
    wait_for(RXNE);
    return (uint8_t)USART3_DR;
}

void hal_serial_write(uint8_t byte) {
    wait_for(TXE);
    USART3_DR = byte;
}
