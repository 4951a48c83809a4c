#include "clock.h"

#include <time.h>

enum { CHAIN = 16, CHAIN_ROUNDS = 62500, CLOCK_TRIES = 9 };

static int64_t now_ns(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

// Time a chain of dependent exclusive-ors: one cycle each on every core that Joulemark knows
// (ARM1176JZF-S TRM DDI0301H 16.4, Cortex-A53, Silvermont and later Intel cores: Agner Fog,
// Instruction tables). Additions would not do, because some cores fold additions of constants.
static void chain(uint32_t rounds) {
    uintptr_t value = rounds, other = 0x55;
    for (uint32_t i = 0; i < rounds; i++) {
#if defined(__x86_64__) || defined(__i386__)
#define STEP "xor %1, %0\n\t"
#elif defined(__arm__) || defined(__aarch64__)
#define STEP "eor %0, %0, %1\n\t"
#else
#error "say how this processor's clock is measured"
#endif
#define STEPS STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP STEP
        __asm__ volatile(STEPS : "+r"(value) : "r"(other) : "cc");
    }
}

uint64_t clock_hz(void) {
    int64_t least_ns = INT64_MAX;
    for (int i = 0; i < CLOCK_TRIES; i++) {
        int64_t began_ns = now_ns();
        chain(CHAIN_ROUNDS);
        int64_t took_ns = now_ns() - began_ns;
        if (took_ns < least_ns)
            least_ns = took_ns;
    }
    return (uint64_t)CHAIN * CHAIN_ROUNDS * 1000000000ull / (uint64_t)least_ns;
}
