#include "poly1305-words-body.h"
