/* Separate from hal.h: code that includes only this compiles to the same object on every board with
   the same core. */
#ifndef HAL_NOINIT_H
#define HAL_NOINIT_H

/* Storage of the harness, neither cleared at start nor counted as the primitive's RAM. */
#define HAL_NOINIT __attribute__((section(".noinit")))

#endif
