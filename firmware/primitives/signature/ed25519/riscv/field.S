#include "field/p25519-riscv.S"
