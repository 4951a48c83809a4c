#include "edhoc_0_0-body.h"
