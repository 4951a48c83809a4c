#include "ccm_star.h"

#include "aead/ccm/ccm-ti-engine.h"

#include "aead/ccm-star/ccm-star-functions.h"
