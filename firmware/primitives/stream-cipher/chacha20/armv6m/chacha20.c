#include "chacha20-body.h"
