#include "sha512-body.h"
