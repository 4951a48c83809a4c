#include "console.h"

#include "hal.h"

void console_text(const char *text) {
    for (; *text != 0; text++)
        hal_serial_write((uint8_t)*text);
}

/* By subtraction: a division would be a call to a runtime helper. */
void console_number(uint32_t number) {
    static const uint32_t powers[] = {1000000000, 100000000, 10000000, 1000000, 100000,
                                      10000,      1000,      100,      10,      1};
    uint8_t begun = 0;
    for (uint8_t i = 0; i < sizeof powers / sizeof powers[0]; i++) {
        uint8_t digit = 0;
        for (; number >= powers[i]; digit++)
            number -= powers[i];
        begun |= digit != 0 || powers[i] == 1;
        if (begun)
            hal_serial_write((uint8_t)('0' + digit));
    }
}

void console_hex(uint32_t number, uint8_t count) {
    while (count-- > 0)
        hal_serial_write((uint8_t)"0123456789abcdef"[number >> 4 * count & 15]);
}
