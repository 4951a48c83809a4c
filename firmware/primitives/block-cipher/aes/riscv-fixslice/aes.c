#include "aes-fixslice-body.h"
