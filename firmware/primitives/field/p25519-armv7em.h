/* Functions of p25519-armv7em.S. */
#include "field/p25519-armv7m.h"

/* a^(2^count) b, count above 0. */
void p25519_square_times(fe out, const fe a, unsigned count, const fe b);
#define fe_square_times p25519_square_times

/* RFC 7748's ladder (section 5) from x, over bits 254 to 0 of a scalar whose last bit is 0; returns
   the point's x and z. */
void p25519_ladder(fe x_z[2], const fe x, const uint8_t scalar[32]);
#define P25519_LADDER p25519_ladder
