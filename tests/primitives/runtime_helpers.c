/* Each operation that a compiler turns into a runtime helper, on operands that the test writes. */
#include <stdint.h>
#include <string.h>

enum { CASES = 64 };

volatile struct {
    uint64_t a, b;
} operands[CASES];

struct results {
    uint16_t multiply_16, divide_u16, remainder_u16, divide_i16, remainder_i16;
    uint32_t multiply_32, divide_u32, remainder_u32, divide_i32, remainder_i32;
    uint32_t left_32, right_u32, right_i32;
    uint64_t multiply_64, divide_u64, remainder_u64, divide_i64, remainder_i64;
    uint64_t left_64, right_u64, right_i64;
} __attribute__((packed)) results[CASES];

int main(void);

static void compute(struct results *r, uint64_t a, uint64_t b) {
    uint16_t a16 = (uint16_t)a, b16 = (uint16_t)b;
    uint32_t a32 = (uint32_t)a, b32 = (uint32_t)b;
    r->multiply_16 = (uint16_t)(a16 * b16);
    r->multiply_32 = a32 * b32;
    r->multiply_64 = a * b;
    if (b16 != 0) {
        r->divide_u16 = a16 / b16;
        r->remainder_u16 = a16 % b16;
        /* The one quotient that does not fit is undefined in C. */
        if (a16 != 0x8000u || b16 != 0xffffu) {
            r->divide_i16 = (uint16_t)((int16_t)a16 / (int16_t)b16);
            r->remainder_i16 = (uint16_t)((int16_t)a16 % (int16_t)b16);
        }
    }
    if (b32 != 0) {
        r->divide_u32 = a32 / b32;
        r->remainder_u32 = a32 % b32;
        if (a32 != 0x80000000u || b32 != 0xffffffffu) {
            r->divide_i32 = (uint32_t)((int32_t)a32 / (int32_t)b32);
            r->remainder_i32 = (uint32_t)((int32_t)a32 % (int32_t)b32);
        }
    }
    if (b != 0) {
        r->divide_u64 = a / b;
        r->remainder_u64 = a % b;
        if (a != (uint64_t)1 << 63 || b != UINT64_MAX) {
            r->divide_i64 = (uint64_t)((int64_t)a / (int64_t)b);
            r->remainder_i64 = (uint64_t)((int64_t)a % (int64_t)b);
        }
    }
    r->left_32 = a32 << (b & 31);
    r->right_u32 = a32 >> (b & 31);
    r->right_i32 = (uint32_t)((int32_t)a32 >> (b & 31));
    r->left_64 = a << (b & 63);
    r->right_u64 = a >> (b & 63);
    r->right_i64 = (uint64_t)((int64_t)a >> (b & 63));
}

void done(void);

__attribute__((noinline)) void done(void) {
    for (;;)
        continue;
}

int main(void) {
    memset(results, 0, sizeof results);
    for (unsigned i = 0; i < CASES; i++)
        compute(&results[i], operands[i].a, operands[i].b);
    done();
}
