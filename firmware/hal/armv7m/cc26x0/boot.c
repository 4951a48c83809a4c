/* The customer configuration (SWCU117, chapter device configuration), without which the boot ROM
   starts no image: everything as erased, except that debuggers are allowed (0xc5) and the image is
   valid (0). */
#include <stdint.h>

__attribute__((section(".boot_configuration"), used)) static const uint32_t configuration[22] = {
    0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff,
    0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffc5, 0xffc5c5c5,
    0xffc5c5c5, 0,          0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff,
};
