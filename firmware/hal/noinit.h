/* Apart from hal.h: what is compiled with this alone is the same object on every board of a chip's
   core. */
#ifndef HAL_NOINIT_H
#define HAL_NOINIT_H

/* Storage of the harness: neither cleared at start nor counted as the primitive's RAM. */
#define HAL_NOINIT __attribute__((section(".noinit")))

#endif
