/* Registers and fields as in SWCU117. */
#include "hal.h"
#include "pl011.h"
#include "series.h"

enum { ON = 1, LOAD = 1, LOAD_DONE = 2 };
enum { MODE = 3, MODE_CACHE = 1, MODE_CHANGING = 8 };
/* IOCFG: the drive strength and pull at reset, the input buffer, and the peripheral that owns the
   pin. */
enum { IOC_DEFAULT = 0x6000, INPUT_ENABLE = 1 << 29, PORT_UART0_RX = 0x0f, PORT_UART0_TX = 0x10 };

/* The core runs at 48 MHz from reset. Turn the cache on, as TI's start-up code does. */
void start_clock(void) {
    VIMS_CTL = (VIMS_CTL & ~(uint32_t)MODE) | MODE_CACHE;
    while ((VIMS_STAT & MODE_CHANGING) != 0)
        continue;
    PRCM_PDCTL0SERIAL = ON;
    PRCM_PDCTL0PERIPH = ON;
    while ((PRCM_PDSTAT0SERIAL & PRCM_PDSTAT0PERIPH & ON) == 0)
        continue;
    PRCM_GPIOCLKGR = ON;
    PRCM_UARTCLKGR = ON;
    PRCM_UARTCLKGS = ON;
    PRCM_CLKLOADCTL = LOAD;
    while ((PRCM_CLKLOADCTL & LOAD_DONE) == 0)
        continue;
}

void start_marker(void) {
    GPIO_DOUTCLR31_0 = MARKER_HIGH_VALUE;
    GPIO_DOE31_0 = MARKER_HIGH_VALUE;
}

void start_serial(void) {
    SERIAL_TX_IOCFG = IOC_DEFAULT | PORT_UART0_TX;
    SERIAL_RX_IOCFG = IOC_DEFAULT | INPUT_ENABLE | PORT_UART0_RX;
    pl011_start();
}
