/* The functions of field/inversion.h that inversion-armv7em.inc provides. */
#include <stdint.h>

int32_t limb_steps(int32_t t[4], int32_t delta, uint32_t f, uint32_t g);
void number_transform(int32_t a[9], int32_t b[9], const int32_t t[4], const int32_t *modulus,
                      uint32_t inverse, unsigned limbs);
#define NUMBERS_OF_NINE_LIMBS 1
