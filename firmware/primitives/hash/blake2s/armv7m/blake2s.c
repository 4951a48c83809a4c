#include "blake2s-streaming.h"
