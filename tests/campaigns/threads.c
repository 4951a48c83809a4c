/*
 * Threads as kernels list them, without a kernel: structures with the names and members of Zephyr,
 * RIOT or FreeRTOS (`-D`), and two stacks of which known amounts are used.
 */
#include <stdint.h>

#define STACK 256
#define WORDS (STACK / 4)

#if defined(ZEPHYR)
struct _thread_stack_info {
    uint32_t start;
    uint32_t size;
};
struct k_thread {
    uint32_t registers[3];
    struct k_thread *next_thread;
    char name[16];
#ifndef BARE
    struct _thread_stack_info stack_info;
#endif
};
struct z_kernel {
    uint32_t nested;
    struct k_thread *threads;
};
struct z_kernel _kernel;
#elif defined(RIOT)
typedef struct _thread {
    char *sp;
    char *stack_start;
    const char *name;
#ifndef BARE
    int stack_size;
#endif
} thread_t;
volatile thread_t *sched_threads[4];
#else
struct xLIST_ITEM {
    uint32_t xItemValue;
    struct xLIST_ITEM *pxNext;
    struct xLIST_ITEM *pxPrevious;
    void *pvOwner;
};
typedef struct xMINI_LIST_ITEM {
    uint32_t xItemValue;
    struct xLIST_ITEM *pxNext;
    struct xLIST_ITEM *pxPrevious;
} MiniListItem_t;
typedef struct xLIST {
    uint32_t uxNumberOfItems;
    struct xLIST_ITEM *pxIndex;
    MiniListItem_t xListEnd;
} List_t;
typedef struct tskTaskControlBlock {
    volatile uint32_t *pxTopOfStack;
    struct xLIST_ITEM xStateListItem;
    uint32_t *pxStack;
    char pcTaskName[8];
} tskTCB;
List_t pxReadyTasksLists[2];
List_t xDelayedTaskList1;
uint8_t ucHeap[1024] __attribute__((aligned(8)));
#endif

#ifndef HEAP
static uint32_t stacks[2][WORDS] __attribute__((aligned(8)));
#endif

static uint32_t *lowest(int number) {
#ifdef HEAP
    /* Blocks as heap_4.c makes them: a header of 8 bytes whose highest bit says "in use". */
    uint32_t *block = (uint32_t *)(ucHeap + number * (STACK + 8));
    block[1] = (STACK + 8) | (UINT32_C(1) << 31);
    return block + 2;
#else
    return stacks[number];
#endif
}

#if defined(ZEPHYR)
static struct k_thread threads[2];
static void list(int number, const char *name, uint32_t *stack) {
    struct k_thread *one = &threads[number];
    for (int i = 0; name[i]; i++) {
        one->name[i] = name[i];
    }
#ifndef BARE
    one->stack_info.start = (uint32_t)stack;
    one->stack_info.size = STACK;
#else
    (void)stack;
#endif
    one->next_thread = _kernel.threads;
    _kernel.threads = one;
}
#define FILL(stack, at) 0xaaaaaaaau
#elif defined(RIOT)
static thread_t threads[2];
static void list(int number, const char *name, uint32_t *stack) {
    threads[number].name = name;
    threads[number].stack_start = (char *)stack;
#ifndef BARE
    threads[number].stack_size = STACK;
#endif
    sched_threads[number + 1] = &threads[number];
}
#define FILL(stack, at) ((uint32_t)((stack) + (at)))
#else
static tskTCB threads[2];
static void list(int number, const char *name, uint32_t *stack) {
    List_t *into = number ? &xDelayedTaskList1 : &pxReadyTasksLists[1];
    struct xLIST_ITEM *end = (struct xLIST_ITEM *)&into->xListEnd;
    tskTCB *task = &threads[number];
    for (int i = 0; name[i]; i++) {
        task->pcTaskName[i] = name[i];
    }
    task->pxStack = stack;
    task->xStateListItem.pvOwner = task;
    task->xStateListItem.pxNext = end;
    into->xListEnd.pxNext = &task->xStateListItem;
}
#define FILL(stack, at) 0xa5a5a5a5u
#endif

/* Goes to another stack, takes `words` of it, and writes another word below without taking it. */
__attribute__((naked)) static void use(uint32_t *top, int words) {
    (void)top;
    (void)words;
    __asm__("mov r2, sp\n"
            "mov sp, r0\n"
            "1: push {r1}\n"
            "subs r1, #1\n"
            "bne 1b\n"
            "str r2, [sp, #-4]\n"
            "mov sp, r2\n"
            "bx lr\n");
}

void run_threads(void) {
    static const char *const names[] = {"worker", "logger"};
    for (int number = 0; number < 2; number++) {
        uint32_t *stack = lowest(number);
#ifdef FILLED
        for (int at = 0; at < WORDS; at++) {
            stack[at] = FILL(stack, at);
        }
#endif
        list(number, names[number], stack);
        use(stack + WORDS, 10 + 5 * number);
    }
}
