#include "permutation/ascon-p-ref.c"
