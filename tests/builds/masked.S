@ Code whose secret is in two shares, and what gives it away: for `leaks --power`.
@
@ A function named leaks_... has a planted leak at the line marked with what toggles; the others leak
@ nothing of first order in the model. The leaks are those that ROSITA finds in masked code
@ (Shelton, Samwel, Batina, Regazzoni, Wagner, Yarom: "ROSITA: Towards automatic elimination of
@ power-analysis leakage in ciphers", NDSS 2021): one share over the other in a register, on the
@ memory bus, also with other instructions in between, and on an operand bus.
.syntax unified
.thumb
.text

.macro function name
.global \name
.type \name, %function
.thumb_func
\name:
.endm

@ What the last instructions left on the buses becomes public: operands, result and memory.
.macro clear
    ldr r6, [r7]
    movs r6, #0
    cmp r7, r6
.endm

.macro begin
    push {r4-r7, lr}
    ldr r0, =share0
    ldr r1, =share1
    ldr r7, =zero
    movs r2, #0
    movs r3, #0
    movs r4, #0
    clear
.endm

.macro end
    clear
    movs r2, #0
    movs r3, #0
    movs r4, #0
    clear
    pop {r4-r7, pc}
.endm

@ Both shares are complemented in the first of them, and masked anew.
function keeps_apart
    begin
    ldr r2, [r0]
    clear
    mvns r2, r2
    str r2, [r0]
    clear
    movs r2, #0
    clear
    ldr r2, [r1]
    clear
    mov r3, r2
    str r3, [r1, #16]
    end

function leaks_by_register
    begin
    ldr r2, [r0]
    clear
    ldr r2, [r1] @ loaded register distance
    end

function leaks_by_bus
    begin
    ldr r2, [r0]
    movs r6, #0
    cmp r7, r6
    ldr r3, [r1] @ bus distance
    end

function leaks_by_store
    begin
    ldr r2, [r0]
    clear
    ldr r3, [r1]
    clear
    str r2, [r0, #16]
    movs r6, #0
    cmp r7, r6
    str r3, [r1, #16] @ bus distance
    end

function leaks_by_operand
    begin
    ldr r2, [r0]
    clear
    ldr r3, [r1]
    clear
    movs r5, #0
    orrs r2, r5
    orrs r3, r5 @ operand 1 distance
    end

@ AES's S-box of 16 bytes, each with a mask of its own, by a table for one mask at the input and another at the output (Messerges:
@ "Securing the AES finalists against power analysis attacks", FSE 2000).
.macro make_table
    push {r4-r7, lr}
    ldr r0, =sbox
    ldr r1, =table
    ldr r2, =masks
    ldrb r4, [r2] @ of inputs
    ldrb r5, [r2, #1] @ of outputs
    movs r2, #0
1:
    ldrb r3, [r0, r2]
    eors r3, r5
    mov r6, r2
    eors r6, r4
    strb r3, [r1, r6]
    adds r2, #1
    lsrs r6, r2, #8
    beq 1b
    ldr r0, =state0
    ldr r7, =zero
    movs r5, #0
    movs r2, #0
    movs r3, #0
    clear
.endm

@ The byte's mask is changed to the table's: R3 has the byte, R4 the table's mask.
.macro change_mask
    ldrb r3, [r0, r2]
    clear
    eors r3, r4
    clear
    ldr r5, =state1
    clear
    ldrb r5, [r5, r2]
    clear
    eors r3, r5
    clear
    movs r5, #0
    clear
.endm

function sub_bytes
    make_table
2:
    change_mask
    ldrb r3, [r1, r3]
    clear
    strb r3, [r0, r2]
    clear
    movs r3, #0
    clear
    adds r2, #1
    cmp r2, #16
    bne 2b
    movs r4, #0
    clear
    pop {r4-r7, pc}

function leaks_in_sub_bytes
    make_table
    mov r8, r3
2:
    change_mask
    ldrb r3, [r1, r3]
    clear
    mov r8, r3 @ register distance: over the byte before, with the same mask
    clear
    strb r3, [r0, r2]
    clear
    movs r3, #0
    clear
    adds r2, #1
    cmp r2, #16
    bne 2b
    movs r4, #0
    clear
    mov r8, r4
    clear
    pop {r4-r7, pc}

@ Without masks: AES's first key addition and S-box.
function unmasked
    push {r4-r7, lr}
    ldr r0, =state0
    ldr r1, =key
    ldr r4, =sbox
    movs r2, #0
3:
    ldrb r3, [r0, r2]
    ldrb r5, [r1, r2]
    eors r3, r5
    ldrb r3, [r4, r3] @ the S-box's output
    strb r3, [r0, r2] @ the S-box's output
    adds r2, #1
    cmp r2, #16
    bne 3b
    pop {r4-r7, pc}

.global starts
.type starts, %function
.thumb_func
starts:
    bl keeps_apart
    bl leaks_by_register
    bl leaks_by_bus
    bl leaks_by_store
    bl leaks_by_operand
    bl sub_bytes
    bl leaks_in_sub_bytes
    bl unmasked
    b .
.ltorg

.balign 4
sbox:
.include "sbox.inc"

.bss
.balign 4
share0: .space 32
share1: .space 32
zero: .space 4
masks: .space 4
state0: .space 16
state1: .space 16
key: .space 16
table: .space 256
