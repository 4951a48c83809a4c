/* The clock that this core runs at, measured. */
#ifndef HAL_HOST_CLOCK_H
#define HAL_HOST_CLOCK_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In hertz: the best of some short tries, because another process can only slow one down. */
uint64_t clock_hz(void);

#ifdef __cplusplus
}
#endif

#endif
