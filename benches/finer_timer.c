// Loaded before `openssl speed` and `cryptest b` (LD_PRELOAD), so that short windows of theirs can
// be held against ours.
//
// Their timers count the processor's time in steps of 10 ms, and the shortest window of the former
// is a second. Here a window that it asks 1 s of lasts 0.05 s, and what it calls a second is 0.1 ms
// of processor time, so that the two decimals that it prints carry a microsecond. What cryptest
// calls a second in its parts for public keys is 5 ms: it measures for 10 of them at most.
//
// Of cryptest's windows only those run whose numbers WINDOWS names ("3 17 18"); of all others the
// first execution ends them. Before such a window, and after its last, the process stops itself
// (SIGSTOP): whoever started it measures ours meanwhile. A window's number is printed before its
// row, as a comment of HTML.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

enum { WINDOW_US = 50000, SPEED_SECOND_NS = 100000, CRYPTEST_SECOND_NS = 5000000 };
static const int64_t LEAP_NS = 1000000000000; // longer than any window
enum { MOST_WINDOWS = 1024, BETWEEN_NS = 50000, MOST_SKIPPED = 64 };

static bool wanted[MOST_WINDOWS], stops;
static bool printed = true; // since its timer was read: it begins a window when it reads it next
static bool timed;          // it is in a wanted window
static int windows, reads;
static int64_t leapt_ns;

__attribute__((constructor)) static void begin(void) {
    const char *numbers = getenv("WINDOWS");
    stops = numbers != NULL;
    while (stops && *numbers != 0) {
        char *end;
        unsigned long number = strtoul(numbers, &end, 10);
        if (end == numbers || number >= MOST_WINDOWS)
            abort();
        wanted[number] = true;
        numbers = end + strspn(end, " ");
    }
}

static int64_t processor_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static void begin_window(void) {
    bool was_timed = timed;
    timed = windows < MOST_WINDOWS && wanted[windows];
    if (stops && (timed || was_timed))
        raise(SIGSTOP);
    if (stops)
        printf("<!-- %d reads, window %d -->", reads, windows);
    windows++;
    reads = 0;
    printed = false;
}

// Between operations of microseconds its loop reads its timer each time. A system's call would be
// a few percent of them, and slow what follows; so it is told the same time again until 50 us or so
// have passed. When the loop ends it has just been told the right time, and is told it once more.
static int64_t read_timer_ns(void) {
    static int64_t last_ns;
    static unsigned skipped, skips;
    reads++;
    if (printed) {
        begin_window();
        skipped = skips = 0;
    } else if (stops && !timed) {
        leapt_ns += LEAP_NS;
    } else if (skipped < skips) {
        skipped++;
        return last_ns;
    } else {
        skipped = 0;
    }
    int64_t now_ns = processor_ns() + leapt_ns;
    if (now_ns - last_ns < BETWEEN_NS && skips < MOST_SKIPPED)
        skips = 2 * skips + 1;
    last_ns = now_ns;
    return now_ns;
}

long sysconf(int name) {
    static long (*real)(int);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "sysconf");
    if (name != _SC_CLK_TCK)
        return real(name);
    return stops ? CRYPTEST_SECOND_NS : SPEED_SECOND_NS;
}

clock_t times(struct tms *used) {
    int64_t ns = read_timer_ns();
    *used = (struct tms){.tms_utime = ns};
    return ns;
}

clock_t clock(void) {
    return read_timer_ns() / 1000;
}

// What std::cout is written by.
size_t fwrite(const void *data, size_t size, size_t count, FILE *to) {
    static size_t (*real)(const void *, size_t, size_t, FILE *);
    if (real == NULL)
        *(void **)&real = dlsym(RTLD_NEXT, "fwrite");
    printed = printed || to == stdout;
    return real(data, size, count, to);
}

unsigned alarm(unsigned seconds) {
    long us = (long)seconds * WINDOW_US;
    struct itimerval timer = {.it_value = {us / 1000000, us % 1000000}};
    return (unsigned)setitimer(ITIMER_REAL, &timer, NULL);
}
