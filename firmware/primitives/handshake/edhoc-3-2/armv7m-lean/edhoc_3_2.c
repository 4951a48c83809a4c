#include "edhoc_3_2-body.h"
