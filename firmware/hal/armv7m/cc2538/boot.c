/* The customer configuration area (SWRU319, chapter flash): an image is valid, and this is its
   vector table; nothing is locked. */
#include <stdint.h>

extern const uint32_t vectors[];

typedef struct {
    uint32_t boot_loader;
    uint32_t image_invalid;
    const uint32_t *vectors;
    uint32_t locks[8];
} configuration_area;

__attribute__((section(".boot_configuration"), used)) static const configuration_area area = {
    0xffffffff,
    0,
    vectors,
    {0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff,
     0xffffffff},
};
