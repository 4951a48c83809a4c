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
    sink = (uint32_t)((uint64_t)a * b >> 32); /* leak: time (m3) */
}

LEAKS(product_and_sum) {
    uint32_t a = hidden(word(s)), b = hidden(word(s + 4));
    uint64_t x = sink;
    /* Clang compares the high words of such a sum only where the low ones are alike. */
    x += (uint64_t)a * b; /* leak: time (m3) */ /* leak: branch (msp430) */
    sink = (uint32_t)(x >> 32) ^ (uint32_t)x;
}

#ifdef HAS_DIVISION
LEAKS(quotient) {
    uint32_t a = hidden(word(s));
    sink = a / (one + 6); /* leak: time */
}

LEAKS(signed_quotient) {
    int32_t a = (int32_t)hidden(word(s));
    sink = (uint32_t)(a / (int32_t)(one + 6)); /* leak: time */
}

LEAKS(divisor) {
    sink = (one + 1000) / hidden(s[0] | 1u); /* leak: time */
}
#else
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
#ifdef __arm__
    __asm__ volatile("eor %0, %0, %0" : "+r"(x));
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

KEEPS(small_products) {
    uint16_t a = s[0], b = s[1];
    sink = (uint32_t)(uint16_t)(a * b);
}

#ifdef HAS_DIVISION
KEEPS(factors_without_zero_halves) {
    uint32_t a = hidden((word(s) & 0x7ffeffff) | 0x00010001), b = hidden(a);
    sink = (uint32_t)((uint64_t)a * b >> 32);
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
