#include "ccm.h"

#include "aead/ccm/ccm-ti-engine.h"

#include "aead/ccm/ccm-functions.h"
