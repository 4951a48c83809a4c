#include "../ref/ccm.h"
