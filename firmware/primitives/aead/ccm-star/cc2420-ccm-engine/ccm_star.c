#include "ccm_star.h"

#include "aead/ccm/ccm-cc2420-engine.h"

#include "aead/ccm-star/ccm-star-functions.h"
