#include "chacha20-streaming.h"
