/* The program around cases: the test writes the operands of each before it runs, and reads the
   results at done. */
#ifndef CASES_H
#define CASES_H

enum { CASES = 24 };

static void compute(unsigned i);
int main(void);
void done(void);

__attribute__((noinline)) void done(void) {
    __asm__ volatile("");
}

int main(void) {
    for (unsigned i = 0; i < CASES; i++)
        compute(i);
    done();
    for (;;)
        ;
}

#endif
