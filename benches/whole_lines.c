// Loaded before both sides of a comparison (LD_PRELOAD): each block of memory begins a line of the
// cache and consists of whole lines, and the one that was freed last is the next of its size to be
// given. So both sides have the same of what an allocator decides. For programs of one thread.
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

enum { LINE = 64, CLASSES = 48, SMALL_LINES = 32 };
static const size_t ARENA = (size_t)8 << 30; // of addresses: Linux gives pages when they are used

struct block {
    struct block *next; // that is free too, while it is free
    unsigned class;
    char *base; // where the line of this begins, before whatever an alignment skipped
};

static struct block *freed[CLASSES];
static char *unused;
static size_t left;

// Up to 32 lines exactly, then powers of two.
static unsigned class_of(size_t lines, size_t *rounded) {
    if (lines <= SMALL_LINES) {
        *rounded = lines;
        return (unsigned)lines - 1;
    }
    unsigned bits = 63 - (unsigned)__builtin_clzll(lines - 1);
    *rounded = (size_t)2 << bits;
    return SMALL_LINES + bits - 5;
}

static size_t lines_in(unsigned class) {
    return class < SMALL_LINES ? class + 1 : (size_t)2 << (class - SMALL_LINES + 5);
}

static char *take(size_t lines) {
    size_t size = lines * LINE;
    if (unused == NULL) {
        unused = mmap(NULL, ARENA, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        left = unused == MAP_FAILED ? 0 : ARENA;
    }
    if (size > left)
        return NULL;
    char *taken = unused;
    unused += size;
    left -= size;
    return taken;
}

static struct block *head_of(void *memory) {
    return (struct block *)((char *)memory - LINE);
}

void *malloc(size_t size) {
    if (size > ARENA / 2) {
        errno = ENOMEM;
        return NULL;
    }
    size_t lines;
    unsigned class = class_of(size / LINE + 1, &lines);
    struct block *found = freed[class];
    if (found != NULL) {
        freed[class] = found->next;
    } else {
        found = (struct block *)take(lines + 1);
        if (found == NULL) {
            errno = ENOMEM;
            return NULL;
        }
        found->class = class;
        found->base = (char *)found;
    }
    return (char *)found + LINE;
}

void free(void *memory) {
    if (memory == NULL)
        return;
    struct block *block = (struct block *)head_of(memory)->base;
    block->next = freed[block->class];
    freed[block->class] = block;
}

void *calloc(size_t count, size_t size) {
    size_t all;
    if (__builtin_mul_overflow(count, size, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    void *made = malloc(all);
    return made == NULL ? NULL : memset(made, 0, all);
}

void *realloc(void *memory, size_t size) {
    if (memory == NULL)
        return malloc(size);
    struct block *block = (struct block *)head_of(memory)->base;
    size_t had = (size_t)(block->base + LINE * (lines_in(block->class) + 1) - (char *)memory);
    if (size <= had)
        return memory;
    void *made = malloc(size);
    if (made != NULL) {
        memcpy(made, memory, had);
        free(memory);
    }
    return made;
}

void *memalign(size_t alignment, size_t size) {
    if (alignment <= LINE)
        return malloc(size);
    char *made = malloc(size + alignment);
    if (made == NULL)
        return NULL;
    char *aligned = made + (-(uintptr_t)made & (alignment - 1));
    head_of(aligned)->base = head_of(made)->base;
    return aligned;
}

void *aligned_alloc(size_t alignment, size_t size) {
    return memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    *memory = memalign(alignment, size);
    return *memory == NULL ? ENOMEM : 0;
}
