#include "slhdsa-sha2.h"

#include "slhdsa-verify.h"
