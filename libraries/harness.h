// A library's program: it exchanges lines on standard input and output (docs/adding-a-library.md),
// and calls the functions below, which the library's own source defines.
#ifndef LIBRARY_HARNESS_H
#define LIBRARY_HARNESS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    // Calls per message: a cipher or hash then starts again, so that the results of all messages
    // can be compared.
    PERIOD = 64,
};

typedef struct {
    const char *algorithm, *operation;
    // Belongs to the library's source; called by `library_prepare`.
    void (*prepare)(void);
} library_row;

// The library's source defines these.
extern const char library_name[];
const char *library_version(void);
// All rows, terminated by one of null pointers.
const library_row *library_rows(void);
// Prepares a row from its `input`s. Returns null, or the reason why it cannot.
const char *library_prepare(const library_row *row);
// Executes `count` times; a multiple of PERIOD if the row processes bytes. Returns false if an
// execution failed, or differed from another one with the same inputs.
int library_run(uint64_t count);
// Gives the last execution's `output`s.
void library_finish(void);

// Defined by the harness. A missing input ends the program with a message.
const uint8_t *input(const char *name, size_t *length);
int has_input(const char *name);
void output(const char *name, const void *data, size_t length);

#ifdef __cplusplus
}
#endif

#endif
