#include "blake2s-body.h"
