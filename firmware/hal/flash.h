/* Flash that code runs from. Writing changes bits of words from 1 to 0; erasing sets all bits of a
   page to 1. Where flash is written by double words, an address is that of one, and an odd word at
   the end is followed by one of ones. The caller detects a failure by reading back. */
#ifndef FLASH_H
#define FLASH_H

#include <stdint.h>

void flash_write(uint32_t address, const uint32_t *words, unsigned count);
void flash_erase(uint32_t address);

#endif
