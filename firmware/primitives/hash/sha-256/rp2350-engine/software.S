#define sha256_compress sha256_compress_software
#include "hash/sha-256/riscv/sha256.S"
