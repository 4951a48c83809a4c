/* The harness's interface to a machine. Each family has a folder with its start-up code, which
   calls hal_init and main, and hal-inline.h, which defines

     static inline void hal_marker_high(void);
     static inline void hal_marker_low(void);
     static inline uint8_t *hal_stack_pointer(void);
     static inline void hal_timer_start(void);
     static inline void hal_timer_stop(void);

   These are inline so that they take the same number of cycles each time and use no stack. */
#ifndef HAL_H
#define HAL_H

#include <stddef.h>
#include <stdint.h>

void hal_init(void);

/* Waits for a byte from the host. */
uint8_t hal_serial_read(void);

void hal_serial_write(uint8_t byte);

/* Sleeps for the given number of milliseconds, or up to 1 % longer, timed by the chip's own timer.
   A meter on the supply sees an idle board. */
void hal_quiet(uint16_t ms);

/* Lowest address that the stack may reach. */
uint8_t *hal_stack_limit(void);

/* Ticks between hal_timer_start and hal_timer_stop, at the timer_hz of the image's description. The
   timer needs no interrupt, so none disturbs the window. HAL_TIMER_OVERFLOW when the count did not
   fit. */
#define HAL_TIMER_OVERFLOW UINT32_MAX
uint32_t hal_timer_ticks(void);

#include "hal-inline.h"
#include "noinit.h"

#endif
