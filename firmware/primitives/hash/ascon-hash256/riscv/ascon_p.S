#include "permutation/ascon-p-riscv.S"
