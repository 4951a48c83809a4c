#ifndef AES_H
#define AES_H

#include "ti-engine.h"

#endif
