/* Frames on the serial line: COBS (Cheshire and Baker, Consistent Overhead Byte Stuffing, IEEE/ACM
   Transactions on Networking 7(2), 1999) around a CRC-16. */
#ifndef COMMAND_FRAME_H
#define COMMAND_FRAME_H

#include <stdint.h>

/* Bytes of a frame: type, sequence, body, CRC. Below 254, so that COBS adds exactly one. */
enum { FRAME_BYTES = 250, FRAME_OVERHEAD = 4, ENCODED_BYTES = FRAME_BYTES + 1 };

uint16_t frame_crc(const uint8_t *bytes, uint16_t length);

/* Decodes a frame in place; its terminating zero is not part of bytes. Returns its length without
   the CRC, or 0 if it is not a valid frame. */
uint16_t frame_decode(uint8_t *bytes, uint16_t length);

/* Sends bytes[0..length) as a frame. The buffer must have room for the CRC after them. */
void frame_send(uint8_t *bytes, uint16_t length);

#endif
