#include "sha256-streaming.h"
