/* Written by SUPERCOP for each implementation, for those that do not bring it. */
#include "supercop.h"
