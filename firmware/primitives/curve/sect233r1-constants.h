/* Written by tools/curve_constants.py. */
/* clang-format off */
#define CURVE_IS_BINARY 1
#define ORDER_BYTES 32
#define ORDER_MODULUS {W(0x03cfe0d7), W(0x22031d26), W(0xe72f8a69), W(0x0013e974), W(0x00000000), W(0x00000000), W(0x00000000), W(0x00000100)}
#define ORDER_INVERSE 0xf154ed19u
#define ORDER_R2 {W(0xc26dd4d1), W(0xcdaa1ba1), W(0xe7e89545), W(0x578cd5ef), W(0x9138b004), W(0xcdd6d0cc), W(0xb044aa57), W(0x0000006a)}
#define SCALAR_BITS 233
#define SCALAR_BYTES 30
#define CURVE_B {W(0x7d8f90ad), W(0x81fe115f), W(0x20e9ce42), W(0x213b333b), W(0x0923bb58), W(0x332c7f8c), W(0x647ede6c), W(0x00000066)}
#define CURVE_GENERATOR {{W(0x71fd558b), W(0xf8f8eb73), W(0x391f8b36), W(0x5fef65bc), W(0x39f1bb75), W(0x8313bb21), W(0xc9dfcbac), W(0x000000fa)}, {W(0x01f81052), W(0x36716f7e), W(0xf867a7ca), W(0xbf8a0bef), W(0xe58528be), W(0x03350678), W(0x6a08a419), W(0x00000100)}}
