/* The I2C master of the CC26x0, at 400 kHz; a transfer is waited for in a loop. */
#ifndef I2C_H
#define I2C_H

#include <stdbool.h>
#include <stdint.h>

/* The buses of the board, of which one at a time is wired to the master. */
typedef enum { BUS_OF_MOST, BUS_OF_MOTION } i2c_bus;

/* Wires a bus to the master, and starts it; does nothing if that is so already. */
void i2c_select(i2c_bus bus);

/* Write bytes to a device; write one and read what comes back; read alone. They return whether the
   device acknowledged all of it. */
bool i2c_write(uint8_t address, const uint8_t *bytes, uint8_t length);
bool i2c_write_read(uint8_t address, uint8_t written, uint8_t *bytes, uint8_t length);
bool i2c_read(uint8_t address, uint8_t *bytes, uint8_t length);

#endif
