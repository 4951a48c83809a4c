/* Tells Valgrind's memcheck what is secret: the bytes that JOULEMARK_SECRETS names (ADDRESS:LENGTH,
   with commas between; hexadecimal) count as undefined whenever the image, a program of this
   machine, has read them, until they are declared public or a window ends. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <valgrind/memcheck.h>

#include "marker.h"

/* What a linker for Linux calls the ends of variables. */
extern char __data_start, _end;

uint8_t __real_hal_serial_read(void);
uint8_t __wrap_hal_serial_read(void);
void crypto_public(void *value, size_t length);

void marker_open(void) {
}

void marker_set(int level) {
    if (!level)
        VALGRIND_MAKE_MEM_DEFINED(&__data_start, &_end - &__data_start);
}

uint8_t __wrap_hal_serial_read(void) {
    uint8_t byte = __real_hal_serial_read();
    if (byte != 0) /* within a frame: whatever it writes is marked before the next one ends */
        return byte;
    const char *at = getenv("JOULEMARK_SECRETS");
    while (at != NULL && *at != 0) {
        char *next;
        uintptr_t address = strtoul(at, &next, 16);
        size_t length = strtoul(next + 1, &next, 16);
        VALGRIND_MAKE_MEM_UNDEFINED(address, length);
        at = *next == ',' ? next + 1 : next;
    }
    return byte;
}

/* In place of the one in declared-public.h, which is weak. */
void crypto_public(void *value, size_t length) {
    VALGRIND_MAKE_MEM_DEFINED(value, length);
}
