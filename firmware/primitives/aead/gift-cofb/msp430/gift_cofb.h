#include "aead/gift-cofb/fixslice/gift_cofb.h"
