#include "slhdsa-sha2.h"

#include "slhdsa-sign.h"
