#include "ccm_star.h"

#include "aead/ccm/ccm-body.h"

#include "aead/ccm-star/ccm-star-functions.h"
