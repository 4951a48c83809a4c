/* The field of secp256k1 (SEC 2, version 2.0, 2.4.1), p = 2^256 - 2^32 - 977, for ARMv7-M cores whose
   UMULL varies. Elements are eight words, any number below 2^256, in Montgomery's form: x 2^256 mod p
   stands for x. Every function takes the same time whatever its operands. */
#include "field/multiply-armv7m.S"

#define C977 r0
#define INVERSE r5
#define LOW_PART r6
#define HIGH_PART r7
#define BORROWED r8

/* A word of L, less what the words before it left, becomes one of M: times 1 / 977 modulo 2^32. below is
   M's word before; HIGH_PART is what 977 times it, and borrows, leave for this word. */
.macro clear word, below
    .ifnb   \below
    subs    \word, \word, \below
    sbc     BORROWED, BORROWED, BORROWED
    subs    \word, \word, HIGH_PART
    sbc     BORROWED, BORROWED, #0
    .endif
    mul     \word, \word, INVERSE
    uxth    LOW_PART, \word
    mul     LOW_PART, LOW_PART, C977
    lsr     HIGH_PART, \word, #16
    mul     HIGH_PART, HIGH_PART, C977
    add     HIGH_PART, HIGH_PART, LOW_PART, lsr #16
    lsr     HIGH_PART, HIGH_PART, #16
    .ifnb   \below
    sub     HIGH_PART, HIGH_PART, BORROWED
    .endif
.endm

/* The product as combine leaves it, over 2^256 modulo p, to out (Montgomery, "Modular multiplication
   without trial division", 1985). M with (2^32 + 977) M = the lower half L modulo 2^256 clears it: the
   upper half + M - ((2^32 + 977) M - L) / 2^256 is left, which is below 2^256 + p. */
.macro reduce
    add     r0, sp, #HIGH
    stmia   r0!, {r5-r8}
    stmia   r0, {r9-r11, lr}
    add     r9, sp, #LOW
    ldmia   r9, {r9-r11, lr}            /* words 0 to 7 are r9, r10, r11, lr, r1 to r4 */
    mov     C977, #977
    movw    INVERSE, #0x3531            /* 1 / 977 modulo 2^32 */
    movt    INVERSE, #0xd225
    clear   r9
    clear   r10, r9
    clear   r11, r10
    clear   lr, r11
    clear   r1, lr
    clear   r2, r1
    clear   r3, r2
    clear   r4, r3
    adds    r12, HIGH_PART, r4          /* what is to be taken off: r12 and 2^32 times r0 */
    mov     r0, #0
    adc     r0, r0, #0
    add     r8, sp, #HIGH
    ldmia   r8!, {r5-r7}
    adds    r9, r9, r5
    adcs    r10, r10, r6
    adcs    r11, r11, r7
    ldmia   r8!, {r5-r7}
    adcs    lr, lr, r5
    adcs    r1, r1, r6
    adcs    r2, r2, r7
    ldmia   r8, {r5, r6}
    adcs    r3, r3, r5
    adcs    r4, r4, r6
    mov     r5, #0
    adc     r5, r5, #0
    subs    r9, r9, r12
    sbcs    r10, r10, r0
    sbcs    r11, r11, #0
    sbcs    lr, lr, #0
    sbcs    r1, r1, #0
    sbcs    r2, r2, #0
    sbcs    r3, r3, #0
    sbcs    r4, r4, #0
    sbc     r5, r5, #0                  /* 1 where it left 256 bits: 2^256 = 2^32 + 977 */
    mov     r6, #977
    mul     r6, r6, r5
    adds    r9, r9, r6
    adcs    r10, r10, r5
    adcs    r11, r11, #0
    adcs    lr, lr, #0
    adcs    r1, r1, #0
    adcs    r2, r2, #0
    adcs    r3, r3, #0
    adc     r4, r4, #0
    ldr     r0, [sp, #OUT]
    stmia   r0!, {r9-r11, lr}
    stmia   r0, {r1-r4}
.endm

/* void secp256k1_multiply(uint32_t out[8], const uint32_t a[8], const uint32_t b[8]); */
function secp256k1_multiply
    multiply256
    reduce
    leave256

/* void secp256k1_square(uint32_t out[8], const uint32_t a[8]); */
function secp256k1_square
    square256
    reduce
    leave256

/* What add256 and subtract256 leave, and by instruction 2^32 + 977 as often as r12 says; the flags hold
   what is carried. */
.macro fold first, others
    mov     r6, #977
    mul     r6, r6, r12
    \first  r9, r9, r6
    \others r10, r10, r12
    \others r11, r11, #0
    \others lr, lr, #0
    \others r1, r1, #0
    \others r2, r2, #0
    \others r3, r3, #0
    \others r4, r4, #0
.endm

/* void secp256k1_add(uint32_t out[8], const uint32_t a[8], const uint32_t b[8]); 2^256 = 2^32 + 977, added
   where the sum left 256 bits, and again where it still does. */
function secp256k1_add
    push    {r4-r11, lr}
    add256
    mov     r12, #0
    adc     r12, r12, #0
    fold    adds, adcs
    mov     r12, #0
    adc     r12, r12, #0
    fold    adds, adcs
    stmia   r0!, {r9-r11, lr}
    stmia   r0, {r1-r4}
    pop     {r4-r11, pc}

/* void secp256k1_subtract(uint32_t out[8], const uint32_t a[8], const uint32_t b[8]); */
function secp256k1_subtract
    push    {r4-r11, lr}
    subtract256
    sbc     r12, r12, r12
    rsb     r12, r12, #0                /* 1 where it borrowed; again where it still does */
    fold    subs, sbcs
    sbc     r12, r12, r12
    rsb     r12, r12, #0
    fold    subs, sbcs
    stmia   r0!, {r9-r11, lr}
    stmia   r0, {r1-r4}
    pop     {r4-r11, pc}
