/* The customer configuration area (SWRU319, chapter flash): marks the image as valid, points to its
   vector table, and locks nothing. */
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
