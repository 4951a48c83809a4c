/* Reduction of the four bits that a shift by x^4 pushes out, to be added to the highest 16 bits:
   multiples of 11100001 (the polynomial's 1 + x + x^2 + x^7), lowest bit first. */
#ifndef GCM_REDUCTION_H
#define GCM_REDUCTION_H

#define GCM_REDUCTION                                                                              \
    0x0000, 0x1c20, 0x3840, 0x2460, 0x7080, 0x6ca0, 0x48c0, 0x54e0, 0xe100, 0xfd20, 0xd940,        \
        0xc560, 0x9180, 0x8da0, 0xa9c0, 0xb5e0

#endif
