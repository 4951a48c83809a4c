#include "signature/slh-dsa/slhdsa.h"
