#include "ascon-hash256-body.h"
