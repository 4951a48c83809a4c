/* What p25519-armv7em.S computes with. */
#include "field/p25519-armv7m.h"

/* What a step of RFC 7748's ladder works on, in this order: (px, pz), (qx, qz), x1, and four more.
 */
typedef struct {
    fe px, pz, qx, qz, x1, a, b, c, d;
} p25519_ladder;

/* Exchanges the two points where swap is all ones, then doubles the first and adds it to the
 * second. */
void p25519_ladder_step(p25519_ladder *ladder, uint32_t swap);
#define P25519_LADDER_STEP p25519_ladder_step
