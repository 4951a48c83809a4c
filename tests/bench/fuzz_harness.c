/* The harness under libFuzzer: the fuzzer's bytes are the serial line. */
#include <string.h>

#include "command-frame.h"
#include "hal.h"
#include "harness.h"

struct timespec hal_timer_started, hal_timer_stopped;

uint32_t hal_timer_ticks(void) {
    return 0;
}

void hal_quiet(uint16_t ms) {
    (void)ms;
}

uint8_t *hal_stack_limit(void) {
    return NULL;
}

/* Checks that every answer is a frame: a zero ends it, and none is longer than documented. */
static size_t answer_bytes;

void hal_serial_write(uint8_t byte) {
    answer_bytes = byte == 0 ? 0 : answer_bytes + 1;
    if (answer_bytes > ENCODED_BYTES)
        __builtin_trap();
}

static void receive(const uint8_t *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        harness_receive(bytes[i]);
}

/* Frames the content as a host does, so that code behind the CRC check is reached too. */
static void receive_frame(uint8_t *content, uint16_t length) {
    uint8_t code = 1, start = 0, encoded[ENCODED_BYTES + 2];
    uint16_t out = 1;
    uint16_t crc = frame_crc(content, length);
    content[length++] = (uint8_t)crc;
    content[length++] = (uint8_t)(crc >> 8);
    for (uint16_t i = 0; i < length; i++) {
        if (content[i] == 0) {
            encoded[start] = code;
            start = (uint8_t)out++;
            code = 1;
        } else {
            encoded[out++] = content[i];
            code++;
        }
    }
    encoded[start] = code;
    encoded[out++] = 0;
    receive(encoded, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    enum { RUN = 3, REPETITIONS = 4, RUN_BYTES = 10 };
    if (size > 0 && data[0] == 'r') {
        receive(data, size);
        return 0;
    }
    /* Repeatedly a length byte, and that many bytes of a frame. */
    while (size > 1) {
        uint8_t content[FRAME_BYTES];
        uint16_t length = data[0];
        if (length > FRAME_BYTES - 2)
            length = FRAME_BYTES - 2;
        if (length > size - 1)
            length = (uint16_t)(size - 1);
        memcpy(content, data + 1, length);
        /* At most 255 repetitions: more only takes longer. */
        if (length == RUN_BYTES && content[0] == RUN)
            memset(content + REPETITIONS + 1, 0, 3);
        receive_frame(content, length);
        data += length + 1;
        size -= length + 1u;
    }
    receive((const uint8_t[]){0}, 1);
    return 0;
}
