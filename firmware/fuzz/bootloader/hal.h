/* What the bootloader uses of a machine. */
#ifndef HAL_H
#define HAL_H

#include <stddef.h>
#include <stdint.h>

#define HAL_NOINIT

void hal_init(void);
uint8_t hal_serial_read(void);
void hal_serial_write(uint8_t byte);

#endif
