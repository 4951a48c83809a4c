/* crypto.h is C; engine.c has what of it drivers use. */
#include "engine.h"
#define crypto_equal engine_equal
#define crypto_wipe engine_wipe
