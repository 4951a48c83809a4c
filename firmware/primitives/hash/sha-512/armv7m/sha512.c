#include "sha512-streaming.h"
