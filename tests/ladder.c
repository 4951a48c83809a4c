/* X25519's ladder that FIELD_HEADER declares, on operands that the test writes: x, and a scalar. */
#include FIELD_HEADER

enum { CASES = 24 };

volatile fe operands[CASES][2];
volatile fe results[CASES][2];

int main(void);
void done(void);

__attribute__((noinline)) void done(void) {
    __asm__ volatile("");
}

int main(void) {
    for (unsigned i = 0; i < CASES; i++) {
        const fe *in = (const fe *)operands[i];
        P25519_LADDER((fe *)results[i], in[0], (const uint8_t *)in[1]);
    }
    done();
    for (;;)
        ;
}
