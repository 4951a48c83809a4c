#include "ccm.h"

#include "aead/ccm/ccm-cc2420-engine.h"

#include "aead/ccm/ccm-functions.h"
