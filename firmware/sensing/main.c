/* One of the board's sensors between the marker's edges: what Contiki's drivers for this board
   send, and how long they wait (github.com/contiki-os/contiki, platform/srf06-cc26xx/sensortag).
   The serial line reports whether each result is that of the air, the object and the rest around
   the board, which are the emulation's. */
#include <string.h>

#include "chip.h"
#include "hal.h"
#include "i2c.h"
#include "wait.h"

enum { MOTION_START = 1, MOTION_READ, INFRARED, HUMIDITY_MEASURE, HUMIDITY_READ };

/* The drivers' addresses, registers, values and ticks. */
enum { HUMIDITY_SENSOR = 0x43, INFRARED_SENSOR = 0x44, MOTION_SENSOR = 0x68 };
enum { HDC1000_RESULTS = 0, HDC1000_TICKS = 3 };
enum { TMP007_LOCAL = 1, TMP007_CONFIGURATION, TMP007_OBJECT, TMP007_STATUS, TMP007_TICKS = 36 };
enum { TMP007_ON_HIGH = 0x10, TMP007_READY_HIGH = 0x40 };
enum { MPU9250_ACCELEROMETER = 0x1c, MPU9250_STATUS = 0x3a, MPU9250_ACCELERATION = 0x3b };
enum { MPU9250_POWER_1 = 0x6b, MPU9250_POWER_2, MPU9250_BOOT_TICKS = 8, MPU9250_START_TICKS = 5 };
enum { AWAKE = 0x09, NO_AXES = 0x3f, RANGE_2_G = 0, READY = 1, ONE_G_HIGH = 0x40 };
/* Its delay of "10 ms": as many passes of a loop of three cycles. */
enum { DELAY_PASSES = 80000 };

#define MOTION_POWER (1 << 12)

static bool set(uint8_t address, uint8_t to, uint8_t value) {
    return i2c_write(address, (uint8_t[]){to, value}, 2);
}

static void motion_power_on(void) {
    GPIO_DOE31_0 |= MOTION_POWER;
    GPIO_DOUTSET31_0 = MOTION_POWER;
}

static bool motion_read(void) {
    uint8_t status = 0, acceleration[6];
    do {
        if (!i2c_write_read(MOTION_SENSOR, MPU9250_STATUS, &status, 1))
            return false;
    } while ((status & READY) == 0);
    return i2c_write_read(MOTION_SENSOR, MPU9250_ACCELERATION, acceleration, 6) &&
           memcmp(acceleration, (uint8_t[]){0, 0, 0, 0, ONE_G_HIGH, 0}, 6) == 0;
}

static bool motion_start(void) {
    uint8_t status;
    motion_power_on();
    wait_ticks(MPU9250_BOOT_TICKS);
    i2c_select(BUS_OF_MOTION);
    bool right = set(MOTION_SENSOR, MPU9250_POWER_1, AWAKE) &&
                 set(MOTION_SENSOR, MPU9250_POWER_2, NO_AXES) &&
                 set(MOTION_SENSOR, MPU9250_ACCELEROMETER, RANGE_2_G) &&
                 i2c_write_read(MOTION_SENSOR, MPU9250_STATUS, &status, 1) &&
                 set(MOTION_SENSOR, MPU9250_POWER_2, 0);
    uint32_t passes = DELAY_PASSES;
    __asm__ volatile("1: subs %0, #1\n bne 1b" : "+r"(passes)::"cc");
    wait_ticks(MPU9250_START_TICKS);
    return right && motion_read();
}

static bool infrared_read(void) {
    /* 14 bits of 1/32 degree, above two of 0. */
    static const uint8_t DEGREES_25[2] = {0x0c, 0x80};
    uint8_t status[2], local[2], object[2];
    return i2c_write_read(INFRARED_SENSOR, TMP007_STATUS, status, 2) &&
           (status[0] & TMP007_READY_HIGH) != 0 &&
           i2c_write_read(INFRARED_SENSOR, TMP007_LOCAL, local, 2) &&
           i2c_write_read(INFRARED_SENSOR, TMP007_OBJECT, object, 2) &&
           memcmp(local, DEGREES_25, 2) == 0 && memcmp(object, DEGREES_25, 2) == 0;
}

static bool infrared(void) {
    static const uint8_t ON[] = {TMP007_CONFIGURATION, TMP007_ON_HIGH, 0};
    static const uint8_t OFF[] = {TMP007_CONFIGURATION, 0, 0};
    i2c_select(BUS_OF_MOST);
    bool right = i2c_write(INFRARED_SENSOR, ON, sizeof ON);
    wait_ticks(TMP007_TICKS);
    right = right && infrared_read();
    return right && i2c_write(INFRARED_SENSOR, OFF, sizeof OFF);
}

static bool humidity_read(void) {
    /* 65 of 165 degrees above -40, and half of all humidity, in 2^-16. */
    static const uint8_t AROUND[4] = {0x64, 0xd8, 0x80, 0x00};
    uint8_t results[4];
    i2c_select(BUS_OF_MOST);
    return i2c_read(HUMIDITY_SENSOR, results, 4) && memcmp(results, AROUND, 4) == 0;
}

static bool humidity_measure(void) {
    i2c_select(BUS_OF_MOST);
    bool right = i2c_write(HUMIDITY_SENSOR, (uint8_t[]){HDC1000_RESULTS}, 1);
    wait_ticks(HDC1000_TICKS);
    return right && humidity_read();
}

static bool sense(void) {
    switch (SENSING) {
    case MOTION_START:
        return motion_start();
    case MOTION_READ:
        return motion_read();
    case INFRARED:
        return infrared();
    case HUMIDITY_MEASURE:
        return humidity_measure();
    default:
        return humidity_read();
    }
}

int main(void) {
    hal_init();
    wait_init();
    /* What is read was measured before. */
    bool right = true;
    if (SENSING == MOTION_READ)
        right = motion_start();
    if (SENSING == HUMIDITY_READ)
        right = humidity_measure();
    /* As an event of the clock would start it: right behind a tick. */
    wait_ticks(1);
    hal_marker_high();
    right = sense() && right;
    hal_marker_low();
    for (const char *text = right ? "right" : "wrong"; *text != 0; text++)
        hal_serial_write((uint8_t)*text);
    hal_serial_write(0);
    for (;;)
        continue;
}
