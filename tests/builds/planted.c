/* Code that leaks a secret, and code that does not. Each function that `LEAKS` makes is run by
   itself; its line with "leak: WHAT" must be found to decide WHAT by the secret, and no other line
   may be. WHAT holds for every core, or for those in brackets. Those of `KEEPS` leak nothing. */
#include <stddef.h>
#include <stdint.h>

uint8_t secret[16] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
uint8_t known[16] = {16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1};
volatile uint8_t table[256];
volatile uint32_t sink;
volatile uint32_t zero, one = 1;

void ends(void);
__attribute__((noinline)) void ends(void) {
    for (;;)
        __asm__ volatile("");
}

#define LEAKS(name)                                                                                \
    static void name(const uint8_t *s, const uint8_t *p);                                          \
    void run_##name(void);                                                                         \
    void run_##name(void) {                                                                        \
        name(secret, known);                                                                       \
        ends();                                                                                    \
    }                                                                                              \
    static __attribute__((noinline)) void name(const uint8_t *s __attribute__((unused)),           \
                                               const uint8_t *p __attribute__((unused)))
#define KEEPS LEAKS

static inline uint32_t word(const uint8_t *b) {
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static inline uint32_t hidden(uint32_t x) { /* from the optimiser */
    __asm__ volatile("" : "+r"(x));
    return x;
}

static inline uint16_t hidden16(uint16_t x) {
    __asm__ volatile("" : "+r"(x));
    return x;
}

LEAKS(branch) {
    if (s[0] & 4) /* leak: branch */
        sink++;
}

LEAKS(early_exit) {
    for (size_t i = 0; i < 16; i++)
        if (s[i] != p[i]) /* leak: branch */
            return;
    sink++;
}

LEAKS(loop_count) {
    for (uint16_t i = 0; i < hidden16(s[1]); i++) /* leak: branch */
        sink++;
}

LEAKS(rare_8) {
    if (s[3] == 0xa5) /* leak: branch */
        sink++;
}

LEAKS(rare_16) {
    if (hidden16((uint16_t)(s[3] | s[4] << 8)) == 0xa5a5) /* leak: branch */
        sink++;
}

LEAKS(rare_32) {
    uint32_t x = word(s) ^ 0xdeadbeef;
    if (hidden(x) == 0) /* leak: branch */
        sink++;
}

LEAKS(rare_12) {
    if ((hidden16((uint16_t)(s[3] | s[4] << 8)) & 0xfff) == 0x5a5) /* leak: branch */
        sink++;
}

LEAKS(rare_20) {
    if ((hidden(word(s)) & 0xfffff) == 0xdeadb) /* leak: branch */
        sink++;
}

LEAKS(rare_24) {
    if (hidden(word(s)) >> 8 == 0xdeadbe) /* leak: branch */
        sink++;
}

LEAKS(rare_28) {
    if (hidden(word(s + 1)) << 4 == 0xeadbeef0) /* leak: branch */
        sink++;
}

LEAKS(rare_in_two_words) {
    uint32_t differ = (word(s) ^ 0xdeadbeef) | (word(s + 4) ^ 0x01234567);
    if (hidden(differ) == 0) /* leak: branch */
        sink++;
}

LEAKS(rarely_below) {
    if (hidden16((uint16_t)(s[5] | s[6] << 8)) < 3) /* leak: branch */
        sink++;
}

LEAKS(rare_address_16) {
    uint16_t differs = hidden16((uint16_t)(s[3] | s[4] << 8)) ^ 0xa5a5;
    uint16_t is_not = (uint16_t)(differs | (uint16_t)(0 - differs)) >> 15;
    sink = table[hidden16(is_not)]; /* leak: address */
}

LEAKS(rare_address_32) {
    uint32_t differs = hidden(word(s)) ^ 0xdeadbeef;
    uint32_t is_not = (differs | (0 - differs)) >> 31;
    sink = table[hidden(is_not)]; /* leak: address */
}

LEAKS(rare_carry) {
    uint32_t sum = hidden(word(s)) + 1;
    if (hidden(sum) == 0) /* leak: branch */
        sink++;
}

LEAKS(carry) {
    uint16_t a = hidden16((uint16_t)(s[0] | s[1] << 8)), b = hidden16((uint16_t)(s[2] | s[3] << 8));
    if ((uint16_t)(a + b) < a) /* leak: branch */
        sink++;
}

LEAKS(sign) {
    int16_t x = (int16_t)hidden16((uint16_t)(s[0] << 8 | s[1]));
    if (x < 0) /* leak: branch */
        sink++;
}

LEAKS(borrow) {
    uint16_t a = hidden16((uint16_t)(s[0] | s[1] << 8)), b = hidden16((uint16_t)(s[2] | s[3] << 8));
    if (a < b) /* leak: branch */
        sink++;
}

LEAKS(signed_order) {
    int16_t a = (int16_t)hidden16((uint16_t)(s[0] | s[1] << 8));
    int16_t b = (int16_t)hidden16((uint16_t)(p[2] | p[3] << 8));
    if (a < b) /* leak: branch */
        sink++;
}

LEAKS(order_of_words) {
    if (hidden(word(s)) < hidden(word(p))) /* leak: branch */
        sink++;
}

LEAKS(both) {
    if (hidden16(s[0]) > 3 && hidden16(s[1]) > 200) /* leak: branch */
        sink++;
}

LEAKS(length_in_bits) {
    for (uint16_t x = hidden16(s[2]); x != 0; x = hidden16(x >> 1)) /* leak: branch */
        sink++;
}

LEAKS(bit_by_bit) {
    for (uint16_t i = 0; i < 8; i++)
        if (hidden16(s[7] >> i) & 1) /* leak: branch */
            sink += i;
}

LEAKS(reduced_by_subtraction) {
    uint16_t x = hidden16(s[15]);
    while (x >= 5) /* leak: branch */
        x = hidden16(x - 5);
    sink = x;
}

LEAKS(greatest_common_divisor) {
    uint16_t a = hidden16(s[5]), b = hidden16(s[8]);
    while (a != b) {                     /* leak: branch */
        if (hidden16(a) > hidden16(b)) { /* leak: branch */
            sink = 1;
            a = hidden16(a - b);
        } else {
            sink = 2;
            b = hidden16(b - a);
        }
    }
}

LEAKS(sorted) {
    volatile uint8_t x[4] = {s[9], s[3], s[12], s[1]};
    for (uint16_t i = 0; i < 3; i++) {
        uint8_t a = x[i], b = x[i + 1];
        if (a > b) { /* leak: branch */
            x[i] = b;
            x[i + 1] = a;
        }
    }
}

LEAKS(end_of_a_string) {
    uint16_t length = 0;
    while (hidden16(s[length]) != 9) /* leak: branch */
        length++;
    sink = length;
}

LEAKS(search) {
    for (uint16_t i = 0; i < 16; i++)
        if (hidden16(p[i]) == s[4]) { /* leak: branch */
            sink = i;
            break;
        }
}

LEAKS(digit_of_hexadecimal) {
    uint16_t digit = hidden16(s[9] >> 4);
    sink = '0';
    if (digit > 9) /* leak: branch */
        sink += 'a' - 10 - '0';
}

LEAKS(candidate_that_is_rejected) {
    if (hidden16((uint16_t)((s[1] << 8 | s[0]) & 0xfff)) >= 3329) /* leak: branch */
        sink++;
}

LEAKS(remaining_length) {
    for (uint16_t left = 8; left > (s[3] & 7); left--) /* leak: branch */
        sink += left;
}

LEAKS(load_address) {
    sink = table[s[0]]; /* leak: address */
}

LEAKS(store_address) {
    table[s[0] & 15] = 1; /* leak: address */
}

LEAKS(address_of_stored) {
    /* A store to a secret address makes the table secret; the branch on it is a leak too. */
    table[s[0] & 15] = p[0]; /* leak: address */
    if (table[3] == 0)       /* leak: branch */
        sink++;
}

LEAKS(through_memory) {
    for (size_t i = 0; i < 16; i++)
        table[16 + i] = s[i] ^ 0x36;
    if (table[20] & 1) /* leak: branch */
        sink++;
}

static __attribute__((noinline)) uint16_t deep(uint16_t n, uint16_t x) {
    volatile uint16_t kept = x;
    uint16_t more = n == 0 ? 0 : deep((uint16_t)(n - 1), (uint16_t)(x >> 1));
    return (uint16_t)(more ^ kept);
}

LEAKS(through_the_stack) {
    if (hidden16(deep(6, s[2])) & 1) /* leak: branch */
        sink++;
}

LEAKS(through_a_sum) {
    uint16_t x = (uint16_t)(s[0] + hidden16(p[0]));
    if (hidden16(x) & 1) /* leak: branch */
        sink++;
}

LEAKS(through_a_carry_of_words) {
    uint64_t sum = (uint64_t)hidden(word(s)) + hidden(word(p)); /* leak: branch (msp430) */
    if (hidden((uint32_t)(sum >> 32)) != 0)                     /* leak: branch */
        sink++;
}

LEAKS(through_a_difference) {
    uint32_t x = hidden(word(p)) - hidden(word(s));
    if (hidden(x) & 0x10000) /* leak: branch */
        sink++;
}

LEAKS(through_a_product) {
    uint16_t x = (uint16_t)(hidden16(s[0]) * hidden16(5));
    if (hidden16(x) & 2) /* leak: branch */
        sink++;
}

LEAKS(through_a_shift) {
    uint32_t x = hidden(word(s)) << 5;
    if (hidden(x) & 0x20) /* leak: branch */
        sink++;
}

LEAKS(through_a_rotation) {
    uint32_t x = hidden(word(s));
    x = x << 9 | x >> 23;
    if (hidden(x) >> 31) /* leak: branch */
        sink++;
}

LEAKS(through_a_mask) {
    uint16_t x = hidden16(s[0] ^ p[0]);
    if (hidden16(x) & 8) /* leak: branch */
        sink++;
}

LEAKS(through_shares) {
    volatile uint8_t one_share = s[0] ^ p[0], other_share = p[0];
    if ((one_share ^ other_share) & 1) /* leak: branch */
        sink++;
}

LEAKS(through_a_parity) {
    uint16_t x = s[0];
    x ^= x >> 4;
    x ^= x >> 2;
    x ^= x >> 1;
    if (hidden16(x) & 1) /* leak: branch */
        sink++;
}

LEAKS(through_a_sign) {
    int16_t x = (int16_t)hidden16((uint16_t)(s[1] << 8));
    uint16_t sign = (uint16_t)(x >> 15);
    if (hidden16(sign)) /* leak: branch */
        sink++;
}

LEAKS(through_a_byte_of_a_word) {
    *(volatile uint32_t *)(void *)(table + 32) = word(s);
    if (table[34] & 4) /* leak: branch */
        sink++;
}

LEAKS(through_a_word_of_bytes) {
    for (uint16_t i = 0; i < 4; i++)
        table[36 + i] = i == 2 ? s[6] : p[6];
    uint32_t x = *(volatile uint32_t *)(void *)(table + 36);
    if (hidden(x) & 0x20000) /* leak: branch */
        sink++;
}

LEAKS(through_bytes_in_reverse) {
    for (uint16_t i = 0; i < 16; i++)
        table[63 - i] = s[i];
    if (table[48] & 16) /* leak: branch */
        sink++;
}

struct pair {
    volatile uint8_t first;
    volatile uint8_t second;
};

static __attribute__((noinline)) void move(struct pair *to, const uint8_t *from) {
    to->first = from[0];
    to->second = known[0];
}

LEAKS(through_a_field) {
    struct pair pair;
    move(&pair, s);
    if (pair.first & 1) /* leak: branch */
        sink++;
}

static __attribute__((noinline)) uint16_t of_many(uint16_t a, uint16_t b, uint16_t c, uint16_t d,
                                                  uint16_t e, uint16_t f, uint16_t g, uint16_t h,
                                                  uint16_t i, uint16_t j) {
    return hidden16((uint16_t)(a + b + c + d + e + f + g + h + i)) & hidden16(j);
}

LEAKS(through_an_argument_on_the_stack) {
    if (of_many(1, 2, 3, 4, 5, 6, 7, 8, 9, s[0])) /* leak: branch */
        sink++;
}

static const uint8_t *volatile kept_pointer;

LEAKS(through_a_pointer_in_memory) {
    kept_pointer = s + 2;
    if (hidden16(*kept_pointer) & 1) /* leak: branch */
        sink++;
}

LEAKS(through_a_second_call) {
    table[70] = s[11];
    sink = deep(3, 1);
    if (hidden16(table[70]) & 2) /* leak: branch */
        sink++;
}

LEAKS(table_of_halfwords) {
    static volatile uint16_t halves[16];
    sink = halves[hidden16(s[1] & 15)]; /* leak: address */
}

LEAKS(table_of_words) {
    static volatile uint32_t words[16];
    sink = words[hidden16(s[1] >> 4)]; /* leak: address */
}

LEAKS(table_of_rows) {
    static volatile uint8_t rows[4][8];
    sink = rows[hidden16(s[1] & 3)][p[14] & 7]; /* leak: address */
}

LEAKS(table_of_a_table) {
    uint16_t first = hidden16(table[p[0]] ^ s[0]);
    sink = table[first & 0xff]; /* leak: address */
}

LEAKS(one_bit_of_an_address) {
    sink = table[hidden16((s[0] & 1) << 7)]; /* leak: address */
}

LEAKS(highest_bits_as_an_index) {
    sink = table[hidden(word(s) >> 28)]; /* leak: address */
}

LEAKS(sum_as_an_index) {
    sink = table[hidden16((uint16_t)(s[0] + s[1]) & 0x7f)]; /* leak: address */
}

LEAKS(pointer_of_a_secret) {
    const volatile uint8_t *at = table + hidden16(s[0]);
    sink = *at; /* leak: address */
}

LEAKS(pointer_that_is_kept) {
    static const volatile uint8_t *volatile at;
    at = table + hidden16(s[0]);
    const volatile uint8_t *again = at;
    sink = *again; /* leak: address */
}

LEAKS(histogram) {
    static volatile uint16_t counts[16];
    for (uint16_t i = 0; i < 3; i++)
        counts[hidden16(s[i] & 15)]++; /* leak: address */
}

LEAKS(permutation) {
    for (uint16_t i = 0; i < 3; i++)
        table[hidden16(s[i])] = (uint8_t)i; /* leak: address */
}

#ifdef __riscv
#define SCRATCH , "a0"
#else
#define SCRATCH
#endif

/* An interrupt that copies a secret, and one amid a comparison. */
static volatile uint16_t seen;

static __attribute__((used)) void handle(void) {
    seen = secret[5];
}

#if defined(__arm__)
static uint32_t vectors[16] __attribute__((aligned(512)));

static inline void prepare(void) {
    vectors[11] = (uint32_t)(uintptr_t)handle;
    *(volatile uint32_t *)0xe000ed08 = (uint32_t)(uintptr_t)vectors; /* VTOR */
}
#define INTERRUPT "svc 0\n"
#define COMPARE "cmp %0, #4\n" INTERRUPT "bne 1f\nnop\n1:"
#elif defined(__riscv)
__attribute__((naked, aligned(4), used)) static void trap(void) {
    __asm__ volatile("csrw mscratch, a0\n"
                     "addi sp, sp, -16\nsw ra, 0(sp)\nsw a5, 4(sp)\nsw a4, 8(sp)\n"
                     "call handle\n"
                     "lw ra, 0(sp)\nlw a5, 4(sp)\nlw a4, 8(sp)\naddi sp, sp, 16\n"
                     "csrr a0, mepc\naddi a0, a0, 4\ncsrw mepc, a0\n"
                     "csrr a0, mscratch\nmret");
}

static inline void prepare(void) {
    __asm__ volatile("csrw mtvec, %0" : : "r"(trap));
}
#define INTERRUPT "ecall\n"
#define COMPARE "mv a0, %0\n" INTERRUPT "addi a0, a0, -4\nbnez a0, 1f\nnop\n1:"
#else
/* Port 1, by its flag (MSP430F1611 data sheet, interrupt vector addresses). */
__attribute__((naked, used)) static void trap(void) {
    __asm__ volatile("push r12\npush r13\npush r14\npush r15\n"
                     "mov.b #0, &0x23\ncall #handle\n"
                     "pop r15\npop r14\npop r13\npop r12\nreti");
}
__attribute__((section("port1_vector"), used)) static void (*const port1)(void) = trap;

static inline void prepare(void) {
    *(volatile uint8_t *)0x25 = 1; /* P1IE */
    __asm__ volatile("eint\nnop");
}
#define INTERRUPT "mov.b #1, &0x23\nnop\n"
#define COMPARE "cmp #4, %0\n" INTERRUPT "jne 1f\nnop\n1:"
#endif

LEAKS(through_an_interrupt) {
    prepare();
    __asm__ volatile(INTERRUPT : : : "memory");
    if (hidden16(seen) & 1) /* leak: branch */
        sink++;
}

LEAKS(over_an_interrupt) {
    prepare();
    uint16_t x = hidden16(s[2]);
    __asm__ volatile(COMPARE : : "r"(x) : "cc", "memory" SCRATCH); /* leak: branch */
}

#if defined(__arm__)
/* An exception's frame comes back with another address to go on at. */
#define GOES_ON                                                                                    \
    ".syntax unified\nadr r1, 1f\nadds r1, #1\nstr r1, [%1]\nmov r0, %0\nb 2f\n.balign 4\n"        \
    "1: ldr r1, [sp, #24]\nadds r1, r1, r0\nstr r1, [sp, #24]\nbx lr\n2: svc 0\nnop\nnop"

LEAKS(goes_on_elsewhere) {
    prepare();
    uint32_t two = hidden16(s[2] & 1) << 1;
    uint32_t *at = &vectors[11];
    __asm__ volatile(GOES_ON : : "l"(two), "l"(at) : "r0", "r1", "cc", "memory"); /* leak: target */
}

static void handles_one(void) {
    sink++;
}

static void handles_other(void) {
    sink = 0;
}

LEAKS(vector) {
    prepare();
    uint32_t mask = 0u - (hidden16(s[0]) & 1u), one_of = (uint32_t)(uintptr_t)handles_one;
    vectors[11] = one_of ^ ((one_of ^ (uint32_t)(uintptr_t)handles_other) & mask);
    __asm__ volatile("svc 0" : : : "memory"); /* leak: target */
}

#define WRITE(name, from) __asm__ volatile("msr " #name ", %0\nisb" : : "r"(from) : "memory")
#define READ(name, to) __asm__ volatile("mrs %0, " #name : "=r"(to) : : "memory")
#define SYSTEM(offset) (*(volatile uint32_t *)(0xe000e000 + (offset)))

LEAKS(masks_exceptions) {
    uint32_t x;
    WRITE(primask, word(s) & 1); /* leak: exception */
    READ(primask, x);
    WRITE(primask, 0);
    if (x & 1) /* leak: branch */
        sink++;
}

#if __ARM_ARCH >= 7
LEAKS(masks_exceptions_by_priority) {
    uint32_t x;
    WRITE(basepri, s[0] | s[1] << 8); /* leak: exception */
    READ(basepri_max, x);
    WRITE(basepri, 0);
    if (x & 128) /* leak: branch */
        sink++;
}

LEAKS(raises_priority) {
    uint32_t x;
    WRITE(basepri, 0xe0);
    WRITE(basepri_max, s[0]); /* leak: exception */
    READ(basepri, x);
    WRITE(basepri, 0);
    if (x & 128) /* leak: branch */
        sink++;
}

LEAKS(masks_faults) {
    uint32_t x;
    WRITE(faultmask, word(s) & 1); /* leak: exception */
    READ(faultmask, x);
    WRITE(faultmask, 0);
    if (x & 1) /* leak: branch */
        sink++;
}
#endif

LEAKS(through_a_stack_pointer) {
    uint32_t x;
    WRITE(psp, word(s) << 3);
    READ(psp, x);
    if (x & 8) /* leak: branch */
        sink++;
}

LEAKS(chooses_a_stack) {
    uint32_t x;
    READ(msp, x);
    WRITE(psp, x);
    WRITE(control, word(s) << 1 & 2); /* leak: address */
    READ(control, x);
    WRITE(control, 0);
    if (x & 2) /* leak: branch */
        sink++;
}

LEAKS(pends_an_exception) {
    __asm__ volatile("cpsid i");
    SYSTEM(0xd04) = (word(s) & 1) << 28; /* leak: exception */
    uint32_t x = SYSTEM(0xd04);
    SYSTEM(0xd04) = 1 << 27;
    __asm__ volatile("cpsie i");
    if (hidden(x) >> 28 & 1) /* leak: branch */
        sink++;
}

LEAKS(takes_an_exception) {
    prepare();
    vectors[14] = (uint32_t)(uintptr_t)handle;
    SYSTEM(0xd04) = (word(s) & 1) << 28; /* leak: exception */
    __asm__ volatile("isb");
}

LEAKS(times_an_exception) {
    SYSTEM(0x14) = 1000u + s[0]; /* leak: exception */
    SYSTEM(0x18) = 0;
    SYSTEM(0x10) = 5;
    if (SYSTEM(0x18) & 1) /* leak: branch */
        sink++;
    SYSTEM(0x10) = 0;
}

KEEPS(masks_and_chooses_as_before) {
    uint32_t mask, control, x = hidden(word(s));
    READ(primask, mask);
    __asm__ volatile("cpsid i");
    READ(control, control);
    WRITE(psp, x);
    sink = x;
    WRITE(psp, 0);
    WRITE(control, control);
    WRITE(primask, mask);
    READ(psp, x);
    if (x & 8)
        sink++;
}
#elif defined(__riscv)
LEAKS(enables_interrupts) {
    uint32_t x = word(s) << 7 & 128;
    __asm__ volatile("csrw mie, %0" : : "r"(x)); /* leak: exception */
    __asm__ volatile("csrr %0, mie\ncsrw mie, zero" : "=r"(x));
    if (x & 128) /* leak: branch */
        sink++;
}
#else
LEAKS(enables_interrupts_in_sr) {
    uint16_t x = hidden16(s[0] & 8), y;
    __asm__ volatile("bis %0, sr\nnop" : : "r"(x) : "memory"); /* leak: exception */
    __asm__ volatile("mov sr, %0\ndint\nnop" : "=r"(y) : : "memory");
    if (hidden16(y) & 8) /* leak: branch */
        sink++;
}

LEAKS(stops_a_clock) {
    uint16_t x = hidden16(s[0] & 0x40), y;
    __asm__ volatile("bis %0, sr" : : "r"(x) : "memory"); /* leak: exception */
    __asm__ volatile("mov sr, %0\nbic #0x40, sr" : "=r"(y) : : "memory");
    if (hidden16(y) & 0x40) /* leak: branch */
        sink++;
}

LEAKS(through_the_status_register) {
    uint16_t x = hidden16((uint16_t)(s[0] << 9)), y;
    __asm__ volatile("bis %0, sr" : : "r"(x) : "memory");
    __asm__ volatile("push sr\npop %0\nbic #0xfe00, sr" : "=r"(y) : : "memory");
    if (hidden16(y) & 0x200) /* leak: branch */
        sink++;
}

KEEPS(disables_interrupts_a_while) {
    uint16_t status, x = hidden16((uint16_t)(s[0] << 8 & 0x100));
    __asm__ volatile("mov sr, %0\ndint\nbis %1, sr\nmov %0, sr\nnop"
                     : "=&r"(status)
                     : "r"(x)
                     : "memory");
}
#endif

static void add_one(void) {
    sink++;
}

static void add_two(void) {
    sink += 2;
}

static void (*const volatile functions[2])(void) = {add_one, add_two};

LEAKS(function_pointer) {
    void (*function)(void) = functions[s[0] & 1]; /* leak: address */
    function();                                   /* leak: target */
}

LEAKS(product) {
    uint32_t a = hidden(word(s)), b = hidden(word(s + 4));
    /* What GCC calls for it on a Cortex-M0+ branches on a carry. */
    sink = (uint32_t)((uint64_t)a * b >> 32); /* leak: time (m3) */ /* leak: branch (m0) */
}

LEAKS(product_and_sum) {
    uint32_t a = hidden(word(s)), b = hidden(word(s + 4));
    uint64_t x = sink;
    /* Clang compares the high words of such a sum only where the low ones are alike. */
    x += (uint64_t)a * b; /* leak: time (m3) */ /* leak: branch (msp430, m0) */
    sink = (uint32_t)(x >> 32) ^ (uint32_t)x;
}

#if defined(__ARM_ARCH_7M__) || defined(__ARM_ARCH_7EM__)
LEAKS(store_that_fails) { /* no monitor is set: memory keeps what it held */
    uint32_t failed;
    __asm__ volatile("clrex\nstrexb %0, %1, [%2]" : "=&r"(failed) : "r"(0), "r"(s) : "memory");
    if (*(const volatile uint8_t *)s & 2) /* leak: branch */
        sink++;
}
#endif

#ifdef __ARM_ARCH_7M__
LEAKS(bit_of_a_band) { /* STM32F100: an alias for each bit of SRAM */
    uint32_t at = 0x22000000 + 32 * ((uint32_t)(uintptr_t)&table[0] - 0x20000000);
    *(volatile uint32_t *)(at + 4u * (hidden16(s[0]) & 7)) = 1; /* leak: address */
    if (hidden16(table[0]) & 4)                                 /* leak: branch */
        sink++;
}
#endif

#ifdef __ARM_ARCH_6M__
LEAKS(divided_in_hardware) { /* RP2040: SIO's divider */
    volatile uint32_t *divider = (volatile uint32_t *)0xd0000060;
    divider[0] = hidden(word(s));
    divider[1] = 3;
    __asm__ volatile("nop\nnop\nnop\nnop\nnop\nnop\nnop\nnop");
    uint32_t remainder = divider[5], quotient = divider[4];
    if (hidden(quotient) & 1) /* leak: branch */
        sink++;
    sink += remainder;
}

KEEPS(divided_in_hardware_again) {
    volatile uint32_t *divider = (volatile uint32_t *)0xd0000060;
    for (uint16_t i = 0; i < 2; i++) {
        divider[0] = i == 0 ? hidden(word(s)) : hidden(word(p));
        divider[1] = 3;
        __asm__ volatile("nop\nnop\nnop\nnop\nnop\nnop\nnop\nnop");
    }
    if (hidden(divider[4]) & 1)
        sink++;
}
#endif

#ifdef HAS_DIVISION
LEAKS(quotient) {
    uint32_t a = hidden(word(s));
    sink = a / (one + 6); /* leak: time (m3, m4) */
}

LEAKS(signed_quotient) {
    int32_t a = (int32_t)hidden(word(s));
    sink = (uint32_t)(a / (int32_t)(one + 6)); /* leak: time */
}

LEAKS(divisor) {
    sink = (one + 1000) / hidden(s[0] | 1u); /* leak: time (m3, m4) */
}

LEAKS(signed_remainder) {
    int32_t a = (int32_t)hidden(word(s));
    sink = (uint32_t)(a % (int32_t)(one + 6)); /* leak: time */
}
#endif

#ifdef __MSP430__
LEAKS(multiplied_in_hardware) {
    uint16_t x = hidden16((uint16_t)(s[0] | s[1] << 8));
    *(volatile uint16_t *)0x130 = x;
    *(volatile uint16_t *)0x138 = x;
    __asm__ volatile("nop");
    uint16_t high = *(volatile uint16_t *)0x13c;
    if (high & 1) /* leak: branch */
        sink++;
}

LEAKS(dma_pointer) {
    *(volatile uint16_t *)0x1e2 = hidden16((uint16_t)(uintptr_t)(table + s[0])); /* leak: pointer */
}

LEAKS(through_dma) { /* MSP430F1611: DMA0 copies a block of bytes at once */
    *(volatile uint16_t *)0x1e2 = (uint16_t)(uintptr_t)s;
    *(volatile uint16_t *)0x1e4 = (uint16_t)(uintptr_t)(table + 128);
    *(volatile uint16_t *)0x1e6 = 16;
    *(volatile uint16_t *)0x1e0 = 0x1fd1;
    __asm__ volatile("nop");
    if (hidden16(table[130]) & 1) /* leak: branch */
        sink++;
}

LEAKS(product_through_dma) {
    *(volatile uint16_t *)0x130 = hidden16(s[0]);
    *(volatile uint16_t *)0x138 = 1;
    *(volatile uint16_t *)0x122 = 0;
    *(volatile uint16_t *)0x1e2 = 0x13a;
    *(volatile uint16_t *)0x1e4 = (uint16_t)(uintptr_t)(table + 144);
    *(volatile uint16_t *)0x1e6 = 1;
    *(volatile uint16_t *)0x1e0 = 0x11;
    __asm__ volatile("nop");
    if (hidden16(table[144]) & 1) /* leak: branch */
        sink++;
}

/* MSP430F1611: RAM from 0x1100 is seen from 0x0200 on, too. */
#define MIRRORED(of) (*(volatile uint8_t *)((uint16_t)(uintptr_t)(of) - 0xf00))

LEAKS(read_in_a_mirror) {
    if (MIRRORED(s) & 2) /* leak: branch */
        sink++;
}

LEAKS(written_in_a_mirror) {
    MIRRORED(table + 10) = s[0];
    if (table[10] & 2) /* leak: branch */
        sink++;
}

KEEPS(overwritten_in_a_mirror) {
    table[11] = s[0];
    MIRRORED(table + 11) = 0;
    if (table[11] & 2)
        sink++;
}
#elif defined(HAS_ECB)
struct ecb { /* nRF52840: ECB's key, what it encrypts, and the result */
    uint8_t key[16];
    uint8_t clear[16];
    volatile uint8_t cipher[16];
};
static struct ecb ecbs[4];

LEAKS(pointer_of_ecb) {
    uint32_t at = (uint32_t)(uintptr_t)(ecbs + (s[0] & 3));
    *(volatile uint32_t *)0x4000e504 = hidden(at); /* leak: pointer */
}

LEAKS(through_ecb) {
    for (uint16_t i = 0; i < 16; i++)
        ecbs[0].key[i] = s[i];
    *(volatile uint32_t *)0x4000e504 = (uint32_t)(uintptr_t)ecbs;
    *(volatile uint32_t *)0x4000e000 = 1;
    while (*(volatile uint32_t *)0x4000e100 == 0) {
    }
    if (hidden16(ecbs[0].cipher[0]) & 1) /* leak: branch */
        sink++;
}

KEEPS(ecb_of_zeros_after_a_secret) {
    ecbs[0].key[0] = s[0];
    for (uint16_t i = 0; i < 2; i++) {
        *(volatile uint32_t *)0x4000e100 = 0;
        *(volatile uint32_t *)0x4000e504 = (uint32_t)(uintptr_t)(ecbs + 3 * i);
        *(volatile uint32_t *)0x4000e000 = 1;
        while (*(volatile uint32_t *)0x4000e100 == 0) {
        }
    }
    if (hidden16(ecbs[3].cipher[0]) & 1)
        sink++;
}

LEAKS(through_flash) { /* by NVMC */
    volatile uint32_t *page = (volatile uint32_t *)0xff000;
    *(volatile uint32_t *)0x4001e504 = 1;
    *page = s[0] | 0xffffff00;
    while ((*(volatile uint32_t *)0x4001e400 & 1) == 0) {
    }
    *(volatile uint32_t *)0x4001e504 = 0;
    if (*page & 2) /* leak: branch */
        sink++;
}

/* nRF52840: what UARTE0, TWIM0, SPIM1 and the radio fetch from RAM leaves the chip. */
#define NRF(address) (*(volatile uint32_t *)(address))
static uint8_t outgoing[16];

static inline void fetched_from(const uint8_t *bytes, uint32_t base) {
    for (uint16_t i = 0; i < 4; i++)
        outgoing[i] = bytes[i];
    NRF(base + 0x544) = (uint32_t)(uintptr_t)outgoing;
    NRF(base + 0x548) = 4;
}

KEEPS(sent_by_uarte) {
    NRF(0x40002500) = 8;
    NRF(0x4000250c) = 6;
    NRF(0x40002524) = 0x01d7e000;
    fetched_from(s, 0x40002000);
    NRF(0x40002008) = 1;
    while (NRF(0x40002120) == 0) {
    }
}

KEEPS(sent_by_twim) {
    NRF(0x40003500) = 6;
    fetched_from(s + 4, 0x40003000);
    NRF(0x40003008) = 1;
    while (NRF(0x40003124) == 0) {
    }
}

KEEPS(sent_by_spim) {
    NRF(0x40004500) = 7;
    fetched_from(s + 8, 0x40004000);
    NRF(0x40004010) = 1;
    while (NRF(0x40004118) == 0) {
    }
}

KEEPS(sent_by_radio) {
    NRF(0x40001508) = 26;
    NRF(0x40001514) = 8; /* LENGTH of 8 bits, in Nordic's own mode at 1 Mbit/s */
    NRF(0x40001518) = 4;
    outgoing[0] = 4;
    for (uint16_t i = 0; i < 4; i++)
        outgoing[i + 1] = s[i + 12];
    NRF(0x40001504) = (uint32_t)(uintptr_t)outgoing;
    NRF(0x40001200) = 3; /* READY starts, END disables */
    NRF(0x40001000) = 1;
    while (NRF(0x40001110) == 0) {
    }
}
#endif

LEAKS(select_by_mask_that_is_seen_through) {
    uint32_t mask = 0u - (word(s) & 1);
    /* Clang for the MSP430 makes a branch of it. */
    sink = (word(s + 4) & mask) | (word(p) & ~mask); /* leak: branch (msp430) */
}

KEEPS(select_by_mask) {
    uint32_t mask = hidden(0u - (word(s) & 1));
    sink = (word(s + 4) & mask) | (word(p) & ~mask);
}

KEEPS(swap_by_mask) {
    uint32_t a = word(s), b = word(p), mask = hidden(0u - (uint32_t)(s[8] & 1));
    uint32_t x = (a ^ b) & mask;
    sink = a ^ x;
    sink = b ^ x;
}

KEEPS(compare_without_branch) {
    uint16_t differ = 0;
    for (size_t i = 0; i < 16; i++)
        differ |= s[i] ^ p[i];
    sink = (uint32_t)(differ - 1) >> 31;
}

KEEPS(bitslice) {
    uint32_t a = word(s), b = word(s + 4), c = word(s + 8);
    sink = (a & b) ^ (~a & c);
    sink = (a ^ b) | c;
}

KEEPS(look_all_up) {
    uint16_t found = 0;
    for (uint16_t i = 0; i < 16; i++) {
        uint16_t x = i ^ (s[0] & 15);
        found |= (uint16_t)(p[i] & (uint16_t)((uint16_t)(x - 1) >> 8));
    }
    sink = found;
}

KEEPS(public_bits_of_a_mixed_word) {
    uint32_t x = (word(s) & 0xffff0000u) | p[0];
    if (hidden(x) & 1)
        sink++;
    if (hidden(x << 8) & 0x100)
        sink++;
}

KEEPS(masked_away) {
    uint32_t x = word(s) & zero;
    if (hidden(x) != 0)
        sink++;
}

KEEPS(cancelled) {
    uint16_t x = s[0];
#if defined(__ARM_ARCH_6M__)
    __asm__ volatile("eor %0, %0" : "+r"(x));
#elif defined(__arm__)
    __asm__ volatile("eor %0, %0, %0" : "+r"(x));
#elif defined(__riscv)
    __asm__ volatile("xor %0, %0, %0" : "+r"(x));
#else
    __asm__ volatile("xor %0, %0" : "+r"(x));
#endif
    if (x != 0)
        sink++;
}

KEEPS(overwritten) {
    for (size_t i = 0; i < 16; i++)
        table[i] = s[i];
    for (size_t i = 0; i < 16; i++)
        table[i] = p[i];
    if (table[3] & 1)
        sink++;
}

KEEPS(count_by_public_length) {
    uint16_t sum = 0;
    for (uint16_t i = 0; i < p[15]; i++)
        sum = (uint16_t)(sum + s[i]);
    sink = sum;
}

KEEPS(extracted_and_inserted) {
    uint32_t x = word(s);
    x = (x & ~0xff0u) | (uint32_t)p[0] << 4;
    if (hidden(x) >> 4 & 1)
        sink++;
}

KEEPS(index_beside_a_secret) {
    uint32_t x = (word(s) << 8) | p[1];
    sink = table[hidden(x) & 0xff];
}

KEEPS(rejection_that_is_public) {
    /* public: whether a candidate is below the limit */
    if ((s[0] & 0x0f) == 0xf)
        sink++;
}

KEEPS(register_that_a_verdict_tells) {
    uint16_t x = hidden16(s[1] & 1);
    uint16_t copy = hidden16(x);
    if (copy) /* public: whether it is odd */
        return;
    sink = table[hidden16(copy)];
}

KEEPS(order_that_a_verdict_tells) {
    uint16_t x = hidden16(s[0] & 1);
    if (x != 1) { /* public: whether it is odd */
        sink++;
        return;
    }
    while (hidden16(x) != 4)
        x++;
}

KEEPS(small_products) {
    uint16_t a = s[0], b = s[1];
    sink = (uint32_t)(uint16_t)(a * b);
}

KEEPS(swap_of_arrays) {
    static uint8_t x[16], y[16];
    uint16_t mask = hidden16((uint16_t)(0 - (s[0] & 1)));
    for (uint16_t i = 0; i < 16; i++) {
        uint16_t differ = (s[i] ^ p[i]) & mask;
        x[i] = (uint8_t)(s[i] ^ differ);
        y[i] = (uint8_t)(p[i] ^ differ);
    }
    sink = x[p[15] & 15] ^ y[0];
}

KEEPS(swap_of_bits) { /* SWAPMOVE of fixslicing: Adomnicai and Peyrin (2021) */
    uint32_t a = hidden(word(s)), b = hidden(word(s + 4));
    uint32_t x = (b ^ a >> 2) & 0x33333333;
    b ^= x;
    a ^= x << 2;
    sink = a;
    sink = b;
}

KEEPS(planes_of_a_box) { /* GIFT's S-box on four planes: Banik and others (2017) */
    uint32_t a = word(s), b = word(s + 4), c = word(s + 8), d = word(s + 12);
    b ^= a & c;
    a ^= b & d;
    c ^= a | b;
    d ^= c;
    b ^= d;
    d = ~d;
    c ^= a & b;
    sink = a;
    sink = b;
    sink = c;
    sink = d;
}

KEEPS(product_of_shares) { /* Ishai, Sahai and Wagner (2003) */
    uint32_t random = hidden(word(p));
    uint32_t a0 = word(s), a1 = word(s + 4), b0 = word(s + 8), b1 = word(s + 12);
    uint32_t cross = (random ^ (a0 & b1)) ^ (a1 & b0);
    sink = (a0 & b0) ^ random;
    sink = (a1 & b1) ^ cross;
}

KEEPS(quarter_round) { /* of ChaCha: RFC 8439 */
    uint32_t a = word(s), b = word(s + 4), c = word(s + 8), d = word(s + 12);
    a += b;
    d ^= a;
    d = hidden(d << 16 | d >> 16);
    c += d;
    b ^= c;
    b = hidden(b << 12 | b >> 20);
    sink = a;
    sink = b;
    sink = c;
    sink = d;
}

KEEPS(row_of_keccak) { /* chi: FIPS 202 */
    uint32_t a[5];
    for (uint16_t i = 0; i < 5; i++)
        a[i] = hidden(word(s + 2 * i));
    for (uint16_t i = 0; i < 5; i++)
        sink = a[i] ^ (~a[(i + 1) % 5] & a[(i + 2) % 5]);
}

KEEPS(sum_of_words_with_carries) {
    uint16_t carry = 0;
    for (uint16_t i = 0; i < 8; i++) {
        uint32_t sum = (uint32_t)(s[2 * i] | s[2 * i + 1] << 8) + p[i] + carry;
        table[i] = (uint8_t)sum;
        carry = hidden16((uint16_t)(sum >> 16));
    }
    sink = carry;
}

KEEPS(reduced_by_a_mask) {
    uint16_t x = hidden16((uint16_t)((s[0] | s[1] << 8) & 0xfff));
    uint16_t less = (uint16_t)(x - 3329);
    uint16_t mask = hidden16((uint16_t)(0 - (less >> 15)));
    sink = (uint16_t)(less + (3329 & mask));
}

KEEPS(larger_by_a_mask) {
    uint16_t a = s[0], b = s[1];
    uint16_t mask = hidden16((uint16_t)(0 - (hidden16((uint16_t)(a - b)) >> 15)));
    sink = (uint16_t)((a & (uint16_t)~mask) | (b & mask));
}

KEEPS(absolute_by_a_mask) {
    uint16_t x = hidden16((uint16_t)(s[0] | s[1] << 8));
    uint16_t mask = hidden16((uint16_t)(0 - (x >> 15)));
    sink = (uint16_t)((x ^ mask) - mask);
}

KEEPS(is_zero_without_branch) {
    uint32_t x = hidden(word(s));
    sink = 1 ^ hidden((x | (0 - x)) >> 31);
}

KEEPS(number_of_bits) {
    uint32_t x = hidden(word(s));
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f;
    sink = x;
}

KEEPS(parity) {
    uint32_t x = hidden(word(s));
    x ^= x >> 16;
    x ^= x >> 8;
    x ^= x >> 4;
    sink = hidden(x) & 15;
}

KEEPS(bytes_in_reverse) {
    uint32_t x = hidden(word(s));
    sink = x << 24 | (x & 0xff00) << 8 | (x >> 8 & 0xff00) | x >> 24;
}

KEEPS(bits_in_reverse) {
    uint16_t x = s[0], y = 0;
    for (uint16_t i = 0; i < 8; i++)
        y = hidden16((uint16_t)(y << 1 | (x >> i & 1)));
    sink = y;
}

KEEPS(doubled_in_a_field) { /* of AES: FIPS 197 */
    uint16_t x = s[0];
    sink = (uint16_t)(x << 1) ^ (hidden16((uint16_t)(0 - (x >> 7))) & 0x11b);
}

KEEPS(product_in_a_field) {
    uint16_t x = s[0], y = s[1], product = 0;
    for (uint16_t i = 0; i < 8; i++) {
        product ^= (uint16_t)(x << i) & hidden16((uint16_t)(0 - (y >> i & 1)));
    }
    sink = product;
}

KEEPS(ladder_that_swaps) {
    uint16_t a = 1, b = p[0];
    for (uint16_t i = 0; i < 8; i++) {
        uint16_t mask = hidden16((uint16_t)(0 - (s[2] >> i & 1)));
        uint16_t differ = (a ^ b) & mask;
        a ^= differ;
        b ^= differ;
        b = hidden16((uint16_t)(a + b));
        a = hidden16((uint16_t)(a + a));
    }
    sink = a;
}

KEEPS(reduced_by_barrett) {
    uint16_t x = hidden16((uint16_t)(s[0] | s[1] << 8)) & 0xfff;
    uint16_t quotient = (uint16_t)((uint16_t)(x >> 4) * 5) >> 10;
    sink = (uint16_t)(x - quotient * 3329);
}

KEEPS(copied) {
    for (uint16_t i = 0; i < 16; i++)
        table[80 + i] = s[i];
    for (uint16_t i = 0; i < 16; i++)
        sink = table[80 + i];
}

KEEPS(kept_on_the_stack) {
    sink = deep(5, s[4]);
}

KEEPS(argument_among_public_ones) {
    if (of_many(1, 2, 3, 4, s[0], 6, 7, 8, 9, 0)) /* AND with nothing */
        sink++;
}

KEEPS(field_beside_a_secret) {
    struct pair pair;
    move(&pair, s);
    if (pair.second & 1)
        sink++;
}

KEEPS(byte_beside_a_secret) {
    for (uint16_t i = 0; i < 4; i++)
        table[40 + i] = i == 2 ? s[6] : p[6];
    uint32_t x = *(volatile uint32_t *)(void *)(table + 40);
    if (hidden(x) & 0x100)
        sink++;
    sink = table[hidden(x) >> 24];
}

KEEPS(cleared) {
    volatile uint8_t kept[8];
    for (uint16_t i = 0; i < 8; i++)
        kept[i] = s[i];
    for (uint16_t i = 0; i < 8; i++)
        kept[i] = 0;
    for (uint16_t i = 0; i < 8; i++)
        if (kept[i] != 0)
            sink++;
}

KEEPS(register_that_is_used_again) {
    uint16_t x = hidden16(s[0]);
    sink = x;
    x = hidden16(p[0]);
    while (x >= 5)
        x = hidden16(x - 5);
    sink = x;
}

KEEPS(shifted_out) {
    uint32_t x = hidden(word(s)) << 16;
    if (hidden(x) & 0xffff)
        sink++;
    x = hidden(word(s) >> 16);
    if (x >> 16)
        sink++;
}

KEEPS(bounded_sum) {
    uint16_t x = (uint16_t)((s[0] & 15) + (s[1] & 15));
    if (hidden16(x) >= 32)
        sink++;
}

KEEPS(verdict_that_is_public) {
    uint16_t differ = 0;
    for (uint16_t i = 0; i < 16; i++)
        differ |= s[i] ^ p[i];
    if (hidden16(differ)) /* public: whether a tag is right */
        sink++;
}

LEAKS(declared_in_the_line_above) {
    uint16_t x = hidden16(s[0] & 2); /* public: nothing that the next line decides */
    if (x)                           /* leak: branch */
        sink++;
}

#ifdef HAS_DIVISION
KEEPS(low_bits_of_a_dividend) {
    int32_t a = (int32_t)(hidden16(s[0] & 3) | 0x40000000u);
#ifndef __riscv
    __asm__ volatile("sdiv %0, %1, %2" : "=r"(a) : "r"(a), "r"(3));
#endif
    sink = (uint32_t)a;
}

KEEPS(factors_without_zero_halves) {
    uint32_t a = hidden((word(s) & 0x7ffeffff) | 0x00010001), b = hidden(a);
    sink = (uint32_t)((uint64_t)a * b >> 32);
}
#endif

/* What is executed is secret: an immediate of an instruction in RAM. */
static uint32_t code[2];
void run_code(void);
void run_code(void) {
#ifdef __riscv
    code[0] = 0x00000513 | (uint32_t)secret[0] << 20; /* li a0, SECRET; ret */
    code[1] = 0x00008067;
    __asm__ volatile(".word 0x0000100f" : : : "memory"); /* fence.i */
    sink = ((uint32_t (*)(void))(uintptr_t)code)();
#elif defined(__arm__)
    code[0] = 0x47702000 | secret[0]; /* movs r0, #SECRET; bx lr */
    __asm__ volatile("dsb\nisb" : : : "memory");
    sink = ((uint32_t (*)(void))((uintptr_t)code | 1))();
#else
    code[0] = 0x403c | (uint32_t)secret[0] << 16; /* mov #SECRET, r12; ret */
    code[1] = 0x4130;
    sink = ((uint16_t (*)(void))(uintptr_t)code)();
#endif
    ends();
}

#ifndef __MSP430__
/* A word is read that is not aligned, on cores that then fault. */
void run_misaligned(void);
void run_misaligned(void) {
    uint32_t at = (uint32_t)(uintptr_t)table + (secret[0] & 1u);
    sink = *(volatile uint32_t *)(uintptr_t)hidden(at);
    ends();
}
#endif

#ifdef HAS_UDMA
/* CC2538: channel 30 of the micro DMA copies words. */
static volatile uint32_t structures[256] __attribute__((aligned(1024)));
static volatile uint32_t source[4], target[4];

static inline void copies(uint32_t from, uint32_t control) {
    structures[120] = from;
    structures[121] = (uint32_t)(uintptr_t)(target + 3);
    structures[122] = control;
    *(volatile uint32_t *)0x400ff008 = (uint32_t)(uintptr_t)structures;
    *(volatile uint32_t *)0x400ff004 = 1;
    *(volatile uint32_t *)0x400ff028 = 1u << 30;
    *(volatile uint32_t *)0x400ff014 = 1u << 30;
}

void run_micro_dma_pointer(void);
void run_micro_dma_pointer(void) {
    copies((uint32_t)(uintptr_t)(source + (secret[0] & 2)), 0xaa000002);
    while (*(volatile uint32_t *)0x400ff028 & 1u << 30) {
    }
    sink = target[3];
    ends();
}

void run_micro_dma_count(void);
void run_micro_dma_count(void) {
    copies((uint32_t)(uintptr_t)(source + 3), 0xaa000002 | (secret[0] & 3u) << 4);
    while (*(volatile uint32_t *)0x400ff028 & 1u << 30) {
    }
    ends();
}

void run_micro_dma_data(void);
void run_micro_dma_data(void) {
    copies((uint32_t)(uintptr_t)secret, 0xaa000002);
    while (structures[122] & 7) { /* public, though the data are not */
    }
    if (target[3] & 2)
        sink++;
    ends();
}
#endif

/* As ML-KEM compresses a coefficient: Bernstein and others, KyberSlash (2024). */
void run_kyberslash(void);
void run_kyberslash(void) {
    uint32_t t = (word(secret) & 0xfff) << 1;
    t += 1665;
    sink = t / 3329 & 1;
    ends();
}
