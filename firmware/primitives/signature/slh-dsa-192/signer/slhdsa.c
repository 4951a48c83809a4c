#include "slhdsa-sha2-3.h"

#include "signature/slh-dsa/slhdsa-sign.h"
