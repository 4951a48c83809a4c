#ifndef TI_AES_REGISTERS_H
#define TI_AES_REGISTERS_H

#include "chip.h"

#endif
