#include "aead/gift-cofb/gift-cofb-assembly.h"
