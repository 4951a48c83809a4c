/* What exceptions do with the state of a Cortex-M4's floating-point unit: room in frames, lazy
 * stacking, new contexts, returns. What each scenario saw is in `kept`. The same image runs on our
 * core, which stops at `at_the_end`, and under QEMU, where it then writes that to a file through
 * semihosting. */

#include <stdint.h>

enum { SCENARIOS = 96, WORDS = 64 };

uint32_t kept[SCENARIOS][WORDS];
static uint32_t *next, state = 0x1234567, uses_in_handler, nests;

#define REG(address) (*(volatile uint32_t *)(address))
#define ICSR REG(0xE000ED04)
#define CPACR REG(0xE000ED88)
#define SHPR2 REG(0xE000ED1C)
#define SHPR3 REG(0xE000ED20)
#define FPCCR REG(0xE000EF34)
#define FPCAR REG(0xE000EF38)
#define FPDSCR REG(0xE000EF3C)

enum { CONTEXT = 0x1F << 22 };
#define ASPEN 0x80000000U
enum { PENDSVSET = 1 << 28, FPCA = 4, SPSEL = 2 };
/* ASPEN, LSPEN and LSPACT; the other bits say what a fault would have done. */
#define STACKING 0xC0000001U

static uint32_t random_word(void) {
    state ^= state << 13;
    state ^= state >> 17;
    state ^= state << 5;
    return state;
}

static void note(uint32_t value) {
    *next++ = value;
}

#define FLOAT ".fpu fpv4-sp-d16\n"

/* As a handler sees it: EXC_RETURN, CONTROL, how state is stacked and where. */
__attribute__((used)) void handle(uint32_t exception_return, const uint32_t *frame) {
    uint32_t control, fpscr, last;
    __asm__ volatile("mrs %0, control" : "=r"(control));
    note(exception_return);
    note(control);
    note(FPCCR & STACKING);
    note((FPCCR & 1) != 0 ? FPCAR - (uint32_t)(uintptr_t)frame : 0);
    note(frame[7] & 0xFF0003FF);
    if (nests != 0) {
        nests = 0;
        __asm__ volatile("svc 0");
        note(FPCCR & STACKING);
    }
    if (uses_in_handler != 0) {
        __asm__ volatile(FLOAT "vmov s3, %2\n vmrs %0, fpscr\n vmov %1, s16"
                         : "=&r"(fpscr), "=&r"(last)
                         : "r"(0x40490FDB));
        /* The architecture leaves S0 to S15 and the rest of a new context's FPSCR undefined. */
        note((FPCCR & ASPEN) != 0 ? fpscr & CONTEXT : 0);
        note(last);
        note(FPCCR & STACKING);
        if ((exception_return & 0x10) == 0) {
            note(frame[8 + 3]);
            note(frame[8 + 15]);
            note(frame[8 + 16]);
        }
        __asm__ volatile("mrs %0, control" : "=r"(control));
        note(control);
    }
}

__attribute__((naked)) static void enter(void) {
    __asm__ volatile("mov r0, lr\n"
                     "tst lr, #4\n"
                     "ite eq\n"
                     "mrseq r1, msp\n"
                     "mrsne r1, psp\n"
                     "push {r4, lr}\n"
                     "bl handle\n"
                     "pop {r4, pc}\n");
}

static void fill(const uint32_t *floats) {
    __asm__ volatile(FLOAT "vmsr fpscr, %1\n vldmia %0, {s0-s31}" ::"r"(floats), "r"(floats[32])
                     : "memory");
}

static void run(void) {
    static uint32_t floats[33];
    uint32_t kind = random_word(), control;
    static const uint32_t settings[] = {0xC0000000U, 0x80000000U, 0};
    FPCCR = settings[kind % 3];
    FPDSCR = (kind >> 2 & 0x1F) << 22;
    uses_in_handler = kind >> 8 & 1;
    nests = kind >> 9 & 1;
    for (uint32_t i = 0; i < 33; i++)
        floats[i] = random_word();
    floats[32] &= 0xF7C0009F;
    fill(floats);
    __asm__ volatile("mrs %0, control" : "=r"(control));
    control &= ~(uint32_t)FPCA;
    __asm__ volatile("msr control, %0\n isb" ::"r"(control) : "memory");
    if ((kind >> 10 & 1) != 0)
        fill(floats);
    if ((kind >> 11 & 1) != 0)
        __asm__ volatile("mrs r0, control\n orr r0, #4\n msr control, r0\n isb" ::: "r0");
    ICSR = PENDSVSET;
    __asm__ volatile("dsb\n isb" ::: "memory");
    __asm__ volatile("mrs %0, control" : "=r"(control));
    note(control);
    note(FPCCR & STACKING);
    if ((control & FPCA) != 0) {
        uint32_t fpscr;
        /* Handlers must preserve S16 to S31, and these do. */
        __asm__ volatile(FLOAT "vmrs %0, fpscr\n vstmia %1, {s0-s31}"
                         : "=&r"(fpscr)
                         : "r"(floats)
                         : "memory");
        note(fpscr);
        for (uint32_t i = 0; i < 32; i += 3)
            note(floats[i]);
    }
}

/* On the process stack, aligned to 8 bytes or to 4. */
__attribute__((naked)) static void run_on(uint32_t *stack __attribute__((unused))) {
    __asm__ volatile("push {r4, lr}\n"
                     "msr psp, r0\n"
                     "mrs r4, control\n"
                     "orr r4, #2\n"
                     "msr control, r4\n"
                     "isb\n"
                     "bl run_it\n"
                     "mrs r4, control\n"
                     "bic r4, #2\n"
                     "msr control, r4\n"
                     "isb\n"
                     "pop {r4, pc}\n");
}

__attribute__((used)) void run_it(void) {
    run();
}

static uint32_t semihost(uint32_t operation, const void *arguments) {
    register uint32_t r0 __asm__("r0") = operation;
    register const void *r1 __asm__("r1") = arguments;
    __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
    return r0;
}

__attribute__((used, noreturn)) void scenarios(void) {
    static uint32_t process_stack[256];
    CPACR |= 0xF << 20;
    /* SVC has priority over PendSV. */
    SHPR3 = 0x00E00000;
    SHPR2 = 0x20000000;
    for (uint32_t scenario = 0; scenario < SCENARIOS; scenario++) {
        next = kept[scenario];
        if ((scenario & 1) != 0)
            run_on(process_stack + 254 + (scenario >> 1 & 1));
        else
            run();
    }
    __asm__ volatile(".global at_the_end\nat_the_end: nop");
    static const char name[] = "log.bin";
    const uint32_t open[] = {(uint32_t)(uintptr_t)name, 5, sizeof name - 1};
    const uint32_t write[] = {semihost(1, open), (uint32_t)(uintptr_t)kept, sizeof kept};
    semihost(5, write);
    semihost(0x18, (const void *)0x20026);
    for (;;)
        continue;
}

__attribute__((naked)) void reset(void) {
    __asm__ volatile("b scenarios");
}

extern uint32_t stack_top;
__attribute__((section(".vectors"), used)) static const void *const vectors[16] = {
    &stack_top,
    (const void *)reset,
    [2 ... 15] = (const void *)enter,
};
