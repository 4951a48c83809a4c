#include "command-frame.h"

#include "hal.h"

/* CRC-16/IBM-3740: polynomial 0x1021, initial value 0xffff, not reflected. The shifts divide by the
   polynomial a whole byte at a time. */
uint16_t frame_crc(const uint8_t *bytes, uint16_t length) {
    uint16_t crc = 0xffff;
    while (length-- > 0) {
        uint8_t x = (uint8_t)((crc >> 8) ^ *bytes++);
        x ^= x >> 4;
        crc = (uint16_t)(crc << 8 ^ (uint16_t)x << 12 ^ (uint16_t)x << 5 ^ x);
    }
    return crc;
}

uint16_t frame_decode(uint8_t *bytes, uint16_t length) {
    /* A code byte c stands for c - 1 data bytes and a zero; the last zero is not data. */
    uint16_t in = 0, out = 0;
    while (in < length) {
        uint8_t code = bytes[in++];
        if (code == 0 || (uint16_t)(code - 1) > (uint16_t)(length - in))
            return 0;
        for (uint8_t i = 1; i < code; i++)
            bytes[out++] = bytes[in++];
        if (code < 0xff && in < length)
            bytes[out++] = 0;
    }
    if (out < FRAME_OVERHEAD || out > FRAME_BYTES)
        return 0;
    uint16_t crc = frame_crc(bytes, (uint16_t)(out - 2));
    if (bytes[out - 2] != (uint8_t)crc || bytes[out - 1] != crc >> 8)
        return 0;
    return (uint16_t)(out - 2);
}

void frame_send(uint8_t *bytes, uint16_t length) {
    uint16_t crc = frame_crc(bytes, length);
    bytes[length++] = (uint8_t)crc;
    bytes[length++] = (uint8_t)(crc >> 8);
    for (uint16_t start = 0; start <= length;) {
        uint16_t end = start;
        while (end < length && bytes[end] != 0)
            end++;
        hal_serial_write((uint8_t)(end - start + 1));
        while (start < end)
            hal_serial_write(bytes[start++]);
        start++;
    }
    hal_serial_write(0);
}
