#include "sha1-body.h"
