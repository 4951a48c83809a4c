/* What the image says of itself; the build writes it. In a section of its own: its length depends
   on names and paths, and is no cost of the primitive. */
#ifndef DESCRIPTION_H
#define DESCRIPTION_H

#include <stdint.h>

extern const char description[];
extern const uint16_t description_bytes;

#endif
