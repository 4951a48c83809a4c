#include "ccm.h"

#include "aead/ccm/ccm-body.h"

#include "aead/ccm/ccm-functions.h"
