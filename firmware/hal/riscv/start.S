/* From the entry to main. The image is in RAM as it was loaded, or in flash. */
    .section .text.start, "ax", %progbits
    .p2align 2
    .global start
    .type start, %function
start:
    la      sp, stack_top
    la      t0, unexpected_trap
    csrw    mtvec, t0
#ifdef RUNS_FROM_FLASH
    la      a0, data_start
    la      a1, data_load
    la      a2, data_end
    sub     a2, a2, a0
    call    memcpy
#endif
    la      a0, bss_start
    li      a1, 0
    la      a2, bss_end
    sub     a2, a2, a0
    call    memset
    call    main

/* No interrupt is taken: an exception stops here. */
    .p2align 2
unexpected_trap:
    j       unexpected_trap
    .size start, . - start

/* What tells the boot ROM that this is a program for the RISC-V cores (RP2350 data sheet, chapter
   Bootrom, "Blocks"): an IMAGE_TYPE item, EXE, RISC-V, RP2350; the end of the block, one word long;
   the distance to the next block, this one. */
    .section .text.image_definition, "a", %progbits
    .p2align 2
    .global image_definition
image_definition:
    .word   0xffffded3
    .byte   0x42, 1
    .hword  0x1101
    .byte   0xff
    .hword  1
    .byte   0
    .word   0
    .word   0xab123579
