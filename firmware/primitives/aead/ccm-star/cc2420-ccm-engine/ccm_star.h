#include "../ref/ccm_star.h"
