#include "sha1-streaming.h"
