#include "harness.h"
#include "clock.h"
#include "counters.h"
#include "marker.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { VALUES = 24, NAME_BYTES = 16 };

typedef struct {
    char name[NAME_BYTES];
    uint8_t *data;
    size_t length;
} value;

typedef struct {
    value all[VALUES];
    size_t count;
} values;

static values inputs, outputs;

__attribute__((noreturn)) static void die(const char *what, const char *name) {
    fprintf(stderr, "%s: %s\n", name, what);
    exit(EXIT_FAILURE);
}

static value *find(values *in, const char *name) {
    for (size_t i = 0; i < in->count; i++)
        if (strcmp(in->all[i].name, name) == 0)
            return &in->all[i];
    return NULL;
}

// Takes ownership of `data`, which must be allocated.
static void set(values *in, const char *name, uint8_t *data, size_t length) {
    value *found = find(in, name);
    if (found == NULL) {
        if (in->count == VALUES || strlen(name) >= NAME_BYTES)
            die("there is no room for this value", name);
        found = &in->all[in->count++];
        strcpy(found->name, name);
    } else {
        free(found->data);
    }
    found->data = data;
    found->length = length;
}

static void clear(values *in) {
    for (size_t i = 0; i < in->count; i++)
        free(in->all[i].data);
    in->count = 0;
}

int has_input(const char *name) {
    return find(&inputs, name) != NULL;
}

const uint8_t *input(const char *name, size_t *length) {
    value *found = find(&inputs, name);
    if (found == NULL)
        die("this input was not given", name);
    if (length != NULL)
        *length = found->length;
    return found->data;
}

void output(const char *name, const void *data, size_t length) {
    uint8_t *copy = malloc(length + 1);
    if (copy == NULL)
        die("no memory", name);
    memcpy(copy, data, length);
    set(&outputs, name, copy, length);
}

static int nibble(char digit) {
    if (digit >= '0' && digit <= '9')
        return digit - '0';
    return digit >= 'a' && digit <= 'f' ? digit - 'a' + 10 : -1;
}

static void take_input(char *text) {
    char *digits = strchr(text, '=');
    if (digits == NULL)
        die("is not NAME=HEX", text);
    *digits++ = 0;
    size_t length = strlen(digits) / 2;
    uint8_t *data = malloc(length + 1);
    if (data == NULL)
        die("no memory", text);
    for (size_t i = 0; i < length; i++) {
        int high = nibble(digits[2 * i]), low = nibble(digits[2 * i + 1]);
        if (high < 0 || low < 0)
            die("is not hexadecimal", text);
        data[i] = (uint8_t)(high << 4 | low);
    }
    set(&inputs, text, data, length);
}

static int64_t now_ns(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static void quiet(long ms) {
    struct timespec time = {ms / 1000, ms % 1000 * 1000000};
    while (nanosleep(&time, &time) != 0 && errno == EINTR)
        continue;
}

// "run COUNT QUIET_MS": "ran WALL_NS CPU_NS CYCLES INSTRUCTIONS"; if the counters do not work, an
// error text replaces their counts.
static void run(const char *arguments, const counters *counted, int error) {
    char *end;
    uint64_t count = strtoull(arguments, &end, 10);
    long quiet_ms = strtol(end, NULL, 10);
    quiet(quiet_ms);
    uint64_t cycles = 0, instructions = 0;
    if (error == 0)
        counters_start(counted);
    int64_t wall_ns = now_ns(CLOCK_MONOTONIC), cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID);
    marker_set(1);
    int right = library_run(count);
    marker_set(0);
    cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - cpu_ns;
    wall_ns = now_ns(CLOCK_MONOTONIC) - wall_ns;
    if (error == 0 && counters_stop(counted, &cycles, &instructions) != 0)
        die("its counters cannot be read", "perf_event");
    quiet(quiet_ms);
    if (!right) {
        printf("error executions of equal inputs differ, or one failed\n");
        return;
    }
    library_finish();
    printf("ran %lld %lld ", (long long)wall_ns, (long long)cpu_ns);
    if (error == 0)
        printf("%llu %llu\n", (unsigned long long)cycles, (unsigned long long)instructions);
    else
        printf("- %s\n", strerror(error));
}

// "prepare ALGORITHM OPERATION NAME=HEX...": "ok" or "error WHY".
static void prepare(char *arguments) {
    char *algorithm = strtok(arguments, " "), *operation = strtok(NULL, " ");
    if (algorithm == NULL || operation == NULL)
        die("needs an algorithm and an operation", "prepare");
    clear(&inputs);
    clear(&outputs);
    for (char *text = strtok(NULL, " "); text != NULL; text = strtok(NULL, " "))
        take_input(text);
    for (const library_row *row = library_rows(); row->algorithm != NULL; row++) {
        if (strcmp(row->algorithm, algorithm) == 0 && strcmp(row->operation, operation) == 0) {
            const char *problem = library_prepare(row);
            printf(problem == NULL ? "ok\n" : "error %s\n", problem);
            return;
        }
    }
    printf("error there is no such row\n");
}

static void tell_outputs(void) {
    for (size_t i = 0; i < outputs.count; i++) {
        printf("%s=", outputs.all[i].name);
        for (size_t n = 0; n < outputs.all[i].length; n++)
            printf("%02x", outputs.all[i].data[n]);
        printf(" ");
    }
    printf("\n");
}

static void tell_rows(void) {
    for (const library_row *row = library_rows(); row->algorithm != NULL; row++)
        printf("%s/%s ", row->algorithm, row->operation);
    printf("\n");
}

int main(void) {
    marker_open();
    counters counted;
    int error = counters_open(&counted, 0);
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
    while ((length = getline(&line, &room, stdin)) > 0) {
        line[strcspn(line, "\n")] = 0;
        char *arguments = strchr(line, ' ');
        if (arguments != NULL)
            *arguments++ = 0;
        else
            arguments = line + strlen(line);
        if (strcmp(line, "hello") == 0)
            printf("%s %s\n", library_name, library_version());
        else if (strcmp(line, "rows") == 0)
            tell_rows();
        else if (strcmp(line, "prepare") == 0)
            prepare(arguments);
        else if (strcmp(line, "run") == 0)
            run(arguments, &counted, error);
        else if (strcmp(line, "outputs") == 0)
            tell_outputs();
        else if (strcmp(line, "clock") == 0)
            printf("%llu\n", (unsigned long long)clock_hz());
        else
            die("no such command", line);
        fflush(stdout);
    }
    free(line);
    return EXIT_SUCCESS;
}
