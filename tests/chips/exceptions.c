/* Random exceptions on a Cortex-M3, as they nest, mask and chain: a digest of each scenario is in
 * `digests`, and what happened in scenario KEEP in `kept`. The same image runs on our core, which
 * stops at `end`, and under QEMU, where it then writes both to a file through semihosting. */

#include <stddef.h>
#include <stdint.h>

#ifndef KEEP
#define KEEP 0
#endif

enum { SCENARIOS = 400, STEPS = 30, LINES = 8, DEEPEST = 6, KEPT = 1024 };

uint32_t digests[SCENARIOS];
uint32_t kept[KEPT];
static uint32_t kept_count, scenario, state, depth, budget;

#define REG(address) (*(volatile uint32_t *)(address))
#define BYTE(address) (*(volatile uint8_t *)(address))
#define ISER REG(0xE000E100)
#define ICER REG(0xE000E180)
#define ISPR REG(0xE000E200)
#define ICPR REG(0xE000E280)
#define IABR REG(0xE000E300)
#define IPR(line) BYTE(0xE000E400 + (line))
#define ICSR REG(0xE000ED04)
#define AIRCR REG(0xE000ED0C)
#define CCR REG(0xE000ED14)
#define SHPR(number) BYTE(0xE000ED14 + (number))
#define SHCSR REG(0xE000ED24)
#define CFSR REG(0xE000ED28)
#define HFSR REG(0xE000ED2C)

#define READ(name)                                                                                 \
    ({                                                                                             \
        uint32_t value_;                                                                           \
        __asm__ volatile("mrs %0, " #name : "=r"(value_));                                         \
        value_;                                                                                    \
    })
#define WRITE(name, value) __asm__ volatile("msr " #name ", %0" ::"r"(value) : "memory")

/* Pending exceptions are taken before this returns, on any core. */
static void settle(void) {
    __asm__ volatile("dsb\n isb" ::: "memory");
}

static uint32_t random_below(uint32_t limit) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return (state >> 8) % limit;
}

static void note(uint32_t value) {
    digests[scenario] = (digests[scenario] ^ value) * 0x9E3779B1U;
    digests[scenario] ^= digests[scenario] >> 15;
    if (scenario == KEEP && kept_count < KEPT) {
        kept[kept_count++] = value;
    }
}

static uint32_t priority(void) {
    return random_below(8) << 5;
}

/* Does one random thing; in the handlers of NMI and hard faults, none that would lock up. */
static void act(uint32_t number) {
    uint32_t line = random_below(LINES);
    int may_fault = number != 2 && number != 3 && READ(faultmask) == 0;
    uint32_t deed = random_below(17);
    note(deed << 8 | line);
    switch (deed) {
    case 0:
    case 1:
    case 2:
        ISPR = 1U << line;
        break;
    case 3:
        ICPR = 1U << line;
        break;
    case 4:
        IPR(line) = (uint8_t)priority();
        break;
    case 5:
        SHPR(11 + random_below(5)) = (uint8_t)priority();
        break;
    case 6:
        WRITE(primask, random_below(2));
        break;
    case 7:
        WRITE(basepri, priority());
        break;
    case 8:
        /* In NMI and HardFault it cannot be set (B5.2.3, ExecutionPriority); QEMU 7.2 allows it. */
        if (number != 2 && number != 3) {
            WRITE(faultmask, random_below(2));
        }
        break;
    case 9:
        if (may_fault) {
            __asm__ volatile("svc #3" ::: "memory");
        }
        break;
    case 10:
        ICSR = 1U << 28;
        break;
    case 11:
        ICSR = 1U << 26;
        break;
    case 12:
        ICSR = random_below(8) == 0 ? 1U << 31 : 1U << (random_below(2) ? 27 : 25);
        break;
    case 13:
        AIRCR = 0x05FA0000U | random_below(8) << 8;
        break;
    case 14:
        ICER = 1U << line;
        settle();
        ISER = 1U << random_below(LINES);
        break;
    case 15:
        SHCSR = random_below(2) << 18;
        SHPR(6) = (uint8_t)priority();
        break;
    default:
        if (may_fault) {
            __asm__ volatile("udf #1" ::: "memory");
        }
        break;
    }
    settle();
    note((IABR & 0xFF) << 8 | (ISPR & 0xFF));
    note(ICSR & 0x001FF1FF);
    note(READ(primask) | READ(faultmask) << 1 | READ(basepri) << 8);
}

void handle(uint32_t *frame, uint32_t back) {
    uint32_t number = READ(ipsr);
    note(number << 24 | (uint32_t)(uintptr_t)frame);
    note(back);
    note(frame[7]);
    if (CFSR & 1U << 16) {
        note(CFSR);
        note(HFSR);
        CFSR = UINT32_MAX;
        frame[6] += 2; /* after the undefined instruction */
    }
    HFSR = UINT32_MAX;
    uint32_t mask = READ(basepri);
    if (++depth < DEEPEST) {
        for (uint32_t deeds = random_below(4); deeds && budget; deeds--, budget--) {
            act(number);
        }
    }
    depth--;
    if (number != 2) {
        WRITE(primask, 0);
        WRITE(basepri, mask);
        settle();
    }
    note(number);
}

__attribute__((naked)) void enter(void) {
    __asm__ volatile("tst lr, #4\n"
                     "ite eq\n"
                     "mrseq r0, msp\n"
                     "mrsne r0, psp\n"
                     "mov r1, lr\n"
                     "push {r4, lr}\n"
                     "bl handle\n"
                     "pop {r4, pc}\n");
}

void run(void) {
    state = scenario * 2654435761U + 1;
    depth = 0;
    budget = 40;
    CCR = random_below(2) << 9;
    ISER = (1U << LINES) - 1;
    for (uint32_t line = 0; line < LINES; line++) {
        IPR(line) = (uint8_t)priority();
    }
    for (uint32_t number = 11; number < 16; number++) {
        SHPR(number) = (uint8_t)priority();
    }
    for (uint32_t step = 0; step < STEPS; step++) {
        act(0);
    }
    WRITE(faultmask, 0);
    WRITE(basepri, 0);
    WRITE(primask, 0);
    settle();
    ICER = UINT32_MAX;
    ICPR = UINT32_MAX;
    ICSR = 1U << 27 | 1U << 25;
    AIRCR = 0x05FA0000U;
    SHCSR = 0;
    settle();
}

static uint32_t semihost(uint32_t operation, const void *argument) {
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = argument;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

__attribute__((noinline)) void end(void) {
    __asm__ volatile(".global at_the_end\nat_the_end: nop");
    static const char name[] = "log.bin";
    const uint32_t open[] = {(uint32_t)(uintptr_t)name, 5, sizeof name - 1};
    uint32_t file = semihost(1, open);
    const uint32_t first[] = {file, (uint32_t)(uintptr_t)digests, sizeof digests};
    semihost(5, first);
    const uint32_t second[] = {file, (uint32_t)(uintptr_t)kept, sizeof kept};
    semihost(5, second);
    semihost(0x18, (const void *)0x20026);
}

/* Every other scenario runs on the process stack, aligned to 8 bytes or to 4. */
__attribute__((naked)) static void run_on(void *stack) {
    __asm__ volatile("push {r4, lr}\n"
                     "msr psp, %0\n"
                     "movs r4, #2\n"
                     "msr control, r4\n"
                     "isb\n"
                     "bl run\n"
                     "movs r4, #0\n"
                     "msr control, r4\n"
                     "isb\n"
                     "pop {r4, pc}\n" ::"r"(stack));
}

__attribute__((noreturn)) void scenarios(void) {
    static uint32_t process_stack[256];
    for (scenario = 0; scenario < SCENARIOS; scenario++) {
        if (scenario & 1) {
            run_on(process_stack + 254 + (scenario >> 1 & 1));
        } else {
            run();
        }
    }
    end();
    for (;;) {
    }
}

__attribute__((naked)) void reset(void) {
    __asm__ volatile("b scenarios");
}

extern uint32_t stack_top;
__attribute__((section(".vectors"), used)) static const void *const vectors[48] = {
    &stack_top,
    (const void *)reset,
    [2 ... 47] = (const void *)enter,
};
