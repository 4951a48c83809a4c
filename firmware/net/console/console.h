/* Text on the board's serial line, for people and tests. */
#ifndef CONSOLE_H
#define CONSOLE_H

#include <stdint.h>

void console_text(const char *text);
void console_number(uint32_t number);

/* Writes `count` hexadecimal digits. */
void console_hex(uint32_t number, uint8_t count);

#endif
