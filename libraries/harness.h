// A library's program: it speaks lines on standard input and output (docs/adding-a-library.md), and
// calls the functions below of the library's own source.
#ifndef LIBRARY_HARNESS_H
#define LIBRARY_HARNESS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    // Calls on one message: a cipher or hash then begins anew, so that what was made of each
    // message can be compared with the others.
    PERIOD = 64,
};

typedef struct {
    const char *algorithm, *operation;
    // The source's own: what `library_prepare` calls.
    void (*prepare)(void);
} library_row;

// The library's source defines these.
extern const char library_name[];
const char *library_version(void);
// Rows that there are, ended by one of null pointers.
const library_row *library_rows(void);
// Make ready for a row from `input`s. Returns null, or why it cannot.
const char *library_prepare(const library_row *row);
// Execute so often: a multiple of PERIOD where the row takes bytes. Returns false where an
// execution failed or gave something else than another one of the same inputs.
int library_run(uint64_t count);
// Give the last execution's `output`s.
void library_finish(void);

// The harness defines these. An input that was not given ends the program with a message.
const uint8_t *input(const char *name, size_t *length);
int has_input(const char *name);
void output(const char *name, const void *data, size_t length);

#ifdef __cplusplus
}
#endif

#endif
