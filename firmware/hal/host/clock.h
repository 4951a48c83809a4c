/* Measures the clock of the core it runs on. */
#ifndef HAL_HOST_CLOCK_H
#define HAL_HOST_CLOCK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns hertz: the highest of several short tries, because another process can only make a try
   slower. */
uint64_t clock_hz(void);

#ifdef __cplusplus
}
#endif

#endif
