#include "field/p256-riscv.S"
