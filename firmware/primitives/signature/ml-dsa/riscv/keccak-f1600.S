#include "permutation/keccak-f1600-riscv.S"
