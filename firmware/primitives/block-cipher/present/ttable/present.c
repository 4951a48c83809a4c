#include "block-cipher/present/present-ttable-body.h"
