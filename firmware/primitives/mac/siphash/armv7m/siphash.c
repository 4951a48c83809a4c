#include "siphash-streaming.h"
