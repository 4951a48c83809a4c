#include "mac/poly1305/armv7em/poly1305.h"
