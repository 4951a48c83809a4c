/* void skipjack_encrypt(const skipjack_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks)
   void skipjack_decrypt(const skipjack_ctx *ctx, uint8_t *out, const uint8_t *in, size_t blocks)

   The words w1 to w4 are two registers each, high byte and low byte. A step changes two words in
   place and rotates the four names by one position. Its four key bytes are loaded together, because
   a load that follows another takes one cycle instead of two, and become the indices into F. */
    .syntax unified
    .thumb

#define CV r0
#define K0 r1
#define K1 r2
#define K2 r3
#define K3 r12
#define F lr

#define HIGH1 r4
#define LOW1 r5
#define HIGH2 r6
#define LOW2 r7
#define HIGH3 r8
#define LOW3 r9
#define HIGH4 r10
#define LOW4 r11

/* The frame, below the saved registers. */
#define OUT [sp]
#define IN [sp, #4]
#define BLOCKS [sp, #8]
#define FRAME 12

.macro keys step
    ldrb.w  K0, [CV, #4 * (\step) - 4]
    ldrb.w  K1, [CV, #4 * (\step) - 3]
    ldrb.w  K2, [CV, #4 * (\step) - 2]
    ldrb.w  K3, [CV, #4 * (\step) - 1]
.endm

/* byte = byte XOR F(key XOR other) */
.macro f key, byte, other
    eor     \key, \key, \other
    ldrb    \key, [F, \key]
    eor     \byte, \byte, \key
.endm

.macro g step, high, low
    keys    \step
    f       K0, \high, \low
    f       K1, \low, \high
    f       K2, \high, \low
    f       K3, \low, \high
.endm

.macro g_inverse step, high, low
    keys    \step
    f       K3, \low, \high
    f       K2, \high, \low
    f       K1, \low, \high
    f       K0, \high, \low
.endm

.macro add_to step, high, low, to_high, to_low
    eor     \to_high, \to_high, \high
    eor     \to_low, \to_low, \low
    eor     \to_low, \to_low, #\step
.endm

/* The words then become w2, w3, w4, w1. */
.macro rule_a step, high1, low1, high2, low2, high3, low3, high4, low4
    g       \step, \high1, \low1
    add_to  \step, \high1, \low1, \high4, \low4
.endm

.macro rule_b step, high1, low1, high2, low2, high3, low3, high4, low4
    add_to  \step, \high1, \low1, \high2, \low2
    g       \step, \high1, \low1
.endm

/* The words then become w4, w1, w2, w3. */
.macro inverse_a step, high1, low1, high2, low2, high3, low3, high4, low4
    add_to  \step, \high2, \low2, \high1, \low1
    g_inverse \step, \high2, \low2
.endm

.macro inverse_b step, high1, low1, high2, low2, high3, low3, high4, low4
    g_inverse \step, \high2, \low2
    add_to  \step, \high2, \low2, \high3, \low3
.endm

.macro eight_steps rule, first
    .irp    step, \first, \first + 4
    \rule   (\step), HIGH1, LOW1, HIGH2, LOW2, HIGH3, LOW3, HIGH4, LOW4
    \rule   (\step + 1), HIGH4, LOW4, HIGH1, LOW1, HIGH2, LOW2, HIGH3, LOW3
    \rule   (\step + 2), HIGH3, LOW3, HIGH4, LOW4, HIGH1, LOW1, HIGH2, LOW2
    \rule   (\step + 3), HIGH2, LOW2, HIGH3, LOW3, HIGH4, LOW4, HIGH1, LOW1
    .endr
.endm

.macro eight_inverse_steps rule, last
    .irp    step, \last, \last - 4
    \rule   (\step), HIGH1, LOW1, HIGH2, LOW2, HIGH3, LOW3, HIGH4, LOW4
    \rule   (\step - 1), HIGH2, LOW2, HIGH3, LOW3, HIGH4, LOW4, HIGH1, LOW1
    \rule   (\step - 2), HIGH3, LOW3, HIGH4, LOW4, HIGH1, LOW1, HIGH2, LOW2
    \rule   (\step - 3), HIGH4, LOW4, HIGH1, LOW1, HIGH2, LOW2, HIGH3, LOW3
    .endr
.endm

.macro enter
    cmp     r3, #0
    it      eq
    bxeq    lr
    push    {r4-r11, lr}
    sub     sp, sp, #FRAME
    str     r1, OUT
    str     r2, IN
    str     r3, BLOCKS
    movw    F, #:lower16:skipjack_f
    movt    F, #:upper16:skipjack_f
    .balign 4
1:
    ldr.w   K0, IN
    ldrb.w  HIGH1, [K0], #8
    ldrb.w  LOW1, [K0, #-7]
    ldrb.w  HIGH2, [K0, #-6]
    ldrb.w  LOW2, [K0, #-5]
    ldrb.w  HIGH3, [K0, #-4]
    ldrb.w  LOW3, [K0, #-3]
    ldrb.w  HIGH4, [K0, #-2]
    ldrb.w  LOW4, [K0, #-1]
    str.w   K0, IN
.endm

.macro leave
    ldr.w   K0, OUT
    strb.w  HIGH1, [K0], #8
    strb.w  LOW1, [K0, #-7]
    strb.w  HIGH2, [K0, #-6]
    strb.w  LOW2, [K0, #-5]
    strb.w  HIGH3, [K0, #-4]
    strb.w  LOW3, [K0, #-3]
    strb.w  HIGH4, [K0, #-2]
    strb.w  LOW4, [K0, #-1]
    str.w   K0, OUT
    ldr     K0, BLOCKS
    subs    K0, K0, #1
    str     K0, BLOCKS
    bne     1b
    movs    r2, #0 /* clear registers that held secrets */
    movs    r3, #0
    add     sp, sp, #FRAME
    pop     {r4-r11, pc}
.endm

    .section .text.skipjack_encrypt, "ax", %progbits
    .global skipjack_encrypt
    .type skipjack_encrypt, %function
    .balign 4
    .thumb_func
skipjack_encrypt:
    enter
    eight_steps rule_a, 1
    eight_steps rule_b, 9
    eight_steps rule_a, 17
    eight_steps rule_b, 25
    leave
    .size skipjack_encrypt, . - skipjack_encrypt

    .section .text.skipjack_decrypt, "ax", %progbits
    .global skipjack_decrypt
    .type skipjack_decrypt, %function
    .balign 4
    .thumb_func
skipjack_decrypt:
    enter
    eight_inverse_steps inverse_b, 32
    eight_inverse_steps inverse_a, 24
    eight_inverse_steps inverse_b, 16
    eight_inverse_steps inverse_a, 8
    leave
    .size skipjack_decrypt, . - skipjack_decrypt
