/* The image's description of itself, written by the build. It has its own section because its
   length depends on names and paths and is not a cost of the primitive. */
#ifndef DESCRIPTION_H
#define DESCRIPTION_H

#include <stdint.h>

extern const char description[];
extern const uint16_t description_bytes;

#endif
