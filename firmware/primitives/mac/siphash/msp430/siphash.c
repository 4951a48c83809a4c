#include "siphash-body.h"
