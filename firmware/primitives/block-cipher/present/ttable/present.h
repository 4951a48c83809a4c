#include "block-cipher/present/present-ttable.h"
