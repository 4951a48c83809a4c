/* What the harness needs of a machine. Each family has a folder with the rest: its start-up, which
   calls hal_init and main, and hal-inline.h, which defines

     static inline void hal_marker_high(void);
     static inline void hal_marker_low(void);
     static inline uint8_t *hal_stack_pointer(void);
     static inline void hal_timer_start(void);
     static inline void hal_timer_stop(void);

   They are inline so that they cost the same number of cycles each time and touch no stack. */
#ifndef HAL_H
#define HAL_H

#include <stddef.h>
#include <stdint.h>

void hal_init(void);

/* Waits for a byte from the host. */
uint8_t hal_serial_read(void);

void hal_serial_write(uint8_t byte);

/* Sleeps for so many milliseconds or up to 1 % longer, by the chip's own timer: to a meter on the
   supply the board is idle. */
void hal_quiet(uint16_t ms);

/* Lowest address that the stack may reach. */
uint8_t *hal_stack_limit(void);

/* Ticks from hal_timer_start to hal_timer_stop, at the timer_hz of the image's description. The
   timer runs by itself: nothing interrupts what is timed. HAL_TIMER_OVERFLOW when it did not fit.
 */
#define HAL_TIMER_OVERFLOW UINT32_MAX
uint32_t hal_timer_ticks(void);

#include "hal-inline.h"
#include "noinit.h"

#endif
