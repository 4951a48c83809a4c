/* What a block cipher or a hash gives at addresses that are no multiples of a word's length. */
#include <stdint.h>
#include <string.h>

#include PRIMITIVE_HEADER
#include "cases.h"

#define JOINED(prefix, name) prefix##_##name
#define NAME(prefix, name) JOINED(prefix, name)
#define P(name) NAME(PREFIX, name)

enum { WORD = 8, INPUT_BYTES = IS_HASH ? 200 : 4 * BLOCK_BYTES, LARGEST = 208 };
enum { OUTPUT_BYTES = IS_HASH ? DIGEST_BYTES : INPUT_BYTES };

volatile uint8_t operands[KEY_BYTES + INPUT_BYTES];
volatile uint8_t results[2][OUTPUT_BYTES]; /* aligned; forth and back */
volatile uint32_t differences;

static uint8_t input[LARGEST + WORD] __attribute__((aligned(8)));
static uint8_t output[LARGEST + WORD] __attribute__((aligned(8)));
static P(ctx) context;

static void apply(unsigned back, unsigned from, unsigned to) {
    uint8_t key[KEY_BYTES + 1];
    for (unsigned i = 0; i < KEY_BYTES; i++)
        key[i] = operands[i];
    for (unsigned i = 0; i < INPUT_BYTES; i++)
        input[from + i] = operands[KEY_BYTES + i];
#if IS_HASH
    (void)key;
    P(init)(&context);
    P(update)(&context, input + from, INPUT_BYTES);
    P(final)(&context, output + to);
#else
    P(init)(&context, key);
    if (back)
        P(decrypt)(&context, output + to, input + from, INPUT_BYTES / BLOCK_BYTES);
    else
        P(encrypt)(&context, output + to, input + from, INPUT_BYTES / BLOCK_BYTES);
#endif
}

/* Case 0 is aligned; each of the others is one pair of places. */
static void compute(unsigned i) {
    unsigned from = i % 4, to = i / 4 % 4;
    for (unsigned back = 0; back < (IS_HASH ? 1 : 2); back++) {
        apply(back, from, to);
        for (unsigned j = 0; j < OUTPUT_BYTES; j++) {
            if (i == 0)
                results[back][j] = output[to + j];
            differences += output[to + j] != results[back][j];
        }
    }
}
