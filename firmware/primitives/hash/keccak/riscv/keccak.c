#include "keccak-lanes-body.h"
