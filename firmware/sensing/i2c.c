/* Registers and fields as in SWCU117, chapter I2C. */
#include "i2c.h"

#include "chip.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))

#define I2C_SA REGISTER(0x40002800)
#define I2C_STAT REGISTER(0x40002804)
#define I2C_CTRL REGISTER(0x40002804)
#define I2C_DR REGISTER(0x40002808)
#define I2C_TPR REGISTER(0x4000280c)
#define I2C_CR REGISTER(0x40002820)
#define PRCM_I2CCLKGR REGISTER(0x40082060)
#define IOCFG(pin) REGISTER(0x40081000 + 4 * (pin))

enum { BUSY = 1, ERROR = 2, RUN = 1, START = 2, STOP = 4, ACKNOWLEDGE = 8, MASTER = 1 << 4 };
enum { IS_READ = 1, CLOCK_ON = 1, LOAD = 1, LOAD_DONE = 2 };
/* A period of SCL is 20 x (TPR + 1) cycles of 48 MHz. */
enum { TPR_400_KHZ = 5 };
/* IOCFG: the drive strength at reset without a pull, as the board has resistors; open drain; the
   input buffer; and the peripheral that owns the pin. */
enum { NO_PULL = 0x6000, OPEN_DRAIN = 4 << 24, INPUT = 1 << 29, SDA = 0x0d, SCL = 0x0e };

static const uint8_t PINS[][2] = {{5, 6}, {8, 9}};

static bool is_on;
static i2c_bus wired;

static void own(i2c_bus bus, bool is_owned) {
    uint32_t sda = NO_PULL | INPUT, scl = NO_PULL | INPUT;
    if (is_owned) {
        sda |= OPEN_DRAIN | SDA;
        scl |= OPEN_DRAIN | SCL;
    }
    IOCFG(PINS[bus][0]) = sda;
    IOCFG(PINS[bus][1]) = scl;
}

void i2c_select(i2c_bus bus) {
    if (is_on && bus == wired)
        return;
    if (!is_on) {
        PRCM_I2CCLKGR = CLOCK_ON;
        PRCM_CLKLOADCTL = LOAD;
        while ((PRCM_CLKLOADCTL & LOAD_DONE) == 0)
            continue;
    }
    own(wired, false);
    own(bus, true);
    is_on = true;
    wired = bus;
    I2C_CR = MASTER;
    I2C_TPR = TPR_400_KHZ;
}

/* Does a part of a transfer, and returns whether it was acknowledged. */
static bool run(uint32_t how) {
    I2C_CTRL = RUN | how;
    uint32_t status;
    while (((status = I2C_STAT) & BUSY) != 0)
        continue;
    if ((status & ERROR) == 0)
        return true;
    I2C_CTRL = STOP;
    return false;
}

bool i2c_write(uint8_t address, const uint8_t *bytes, uint8_t length) {
    I2C_SA = (uint32_t)address << 1;
    for (uint8_t i = 0; i < length; i++) {
        I2C_DR = bytes[i];
        if (!run((i == 0 ? START : 0u) | (i + 1 == length ? STOP : 0u)))
            return false;
    }
    return true;
}

bool i2c_read(uint8_t address, uint8_t *bytes, uint8_t length) {
    I2C_SA = (uint32_t)address << 1 | IS_READ;
    for (uint8_t i = 0; i < length; i++) {
        if (!run((i == 0 ? START : 0u) | (i + 1 == length ? STOP : ACKNOWLEDGE)))
            return false;
        bytes[i] = (uint8_t)I2C_DR;
    }
    return true;
}

bool i2c_write_read(uint8_t address, uint8_t written, uint8_t *bytes, uint8_t length) {
    I2C_SA = (uint32_t)address << 1;
    I2C_DR = written;
    return run(START) && i2c_read(address, bytes, length);
}
