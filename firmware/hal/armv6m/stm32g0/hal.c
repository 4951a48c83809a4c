/* The STM32G0; registers and fields as in RM0444. */
#include "hal.h"

enum { PLLON = 1 << 24, PLLRDY = 1 << 25 };
/* HSI16, on after reset, by 2. */
enum { PLL_FROM_HSI16 = 2, PLL_BY_2 = 1 << 4, PLL_N = 8, PLLREN = 1 << 28, PLL_R = 29 };
enum { PREFETCH = 1 << 8, INSTRUCTION_CACHE = 1 << 9, DEBUG_ACCESS = 1 << 18 };
enum { ACCESS = DEBUG_ACCESS | PREFETCH | INSTRUCTION_CACHE | FLASH_LATENCY };
enum { SW_PLL = 2, SWS = 7 << 3, SWS_PLL = 2 << 3 };
enum { PORTS = 0x2f, TIM2_CLOCK = 1, USART2_CLOCK = 1 << 17 };
enum { OUTPUT = 1, ALTERNATE = 2, USART2_FUNCTION = 1 };
enum { UE = 1, RE = 1 << 2, TE = 1 << 3, RXNE = 1 << 5, TXE = 1 << 7 };

static void start_clock(void) {
    FLASH_ACR = ACCESS;
    while (FLASH_ACR != ACCESS)
        continue;
    RCC_PLLCFGR =
        PLL_FROM_HSI16 | PLL_BY_2 | PLL_FEEDBACK << PLL_N | PLLREN | (PLL_DIVIDER - 1) << PLL_R;
    RCC_CR |= PLLON;
    while ((RCC_CR & PLLRDY) == 0)
        continue;
    RCC_CFGR = SW_PLL;
    while ((RCC_CFGR & SWS) != SWS_PLL)
        continue;
    RCC_IOPENR = PORTS;
    RCC_APBENR1 |= TIM2_CLOCK | USART2_CLOCK;
}

static void start_marker(void) {
    hal_marker_low();
    MARKER_MODER = (MARKER_MODER & ~(3ul << MARKER_SHIFT)) | (uint32_t)OUTPUT << MARKER_SHIFT;
}

/* USART2: PA2 and PA3. */
static void start_serial(void) {
    GPIOA_AFRL = (GPIOA_AFRL & ~0xff00ul) | USART2_FUNCTION << 8 | USART2_FUNCTION << 12;
    GPIOA_MODER = (GPIOA_MODER & ~0xf0ul) | ALTERNATE << 4 | ALTERNATE << 6;
    USART2_BRR = SERIAL_DIVIDER;
    USART2_CR1 = UE | TE | RE;
}

void hal_init(void) {
    start_clock();
    start_marker();
    start_serial();
    serial_interrupt_wakes();
}

static void wait_for(uint32_t flag) {
    /* The interrupt enables in CR1 have the same bit positions as the flags in ISR. */
    USART2_CR1 = UE | TE | RE | flag;
    for (;;) {
        NVIC_ICPR = SERIAL_INTERRUPT_BIT;
        if ((USART2_ISR & flag) != 0)
            break;
        __asm__ volatile("wfi" ::: "memory");
    }
    USART2_CR1 = UE | TE | RE;
}

uint8_t hal_serial_read(void) {
    wait_for(RXNE);
    return (uint8_t)USART2_RDR;
}

void hal_serial_write(uint8_t byte) {
    wait_for(TXE);
    USART2_TDR = byte;
}

uint32_t hal_timer_ticks(void) {
    return TIM2_CNT;
}
