#include "tinyjambu-body.h"
