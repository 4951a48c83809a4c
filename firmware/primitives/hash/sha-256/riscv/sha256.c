#include "sha256-body.h"
