/* Drives the AES accelerator of a CC2538 or CC26x0: does the work in `job` between `begin` and
   `done`. */
#include <stdint.h>

#define REGISTER(offset) (*(volatile uint32_t *)(BASE + (offset)))

enum {
    CH0_CTRL = 0x00,
    CH0_ADDRESS = 0x04,
    CH0_LENGTH = 0x0c,
    CH1_CTRL = 0x20,
    CH1_ADDRESS = 0x24,
    CH1_LENGTH = 0x2c,
    WRITE_AREA = 0x400,
    WRITTEN_AREA = 0x404,
    KEY_SIZE = 0x408,
    READ_AREA = 0x40c,
    IV = 0x540,
    CTRL = 0x550,
    C_LENGTH_0 = 0x554,
    C_LENGTH_1 = 0x558,
    AUTH_LENGTH = 0x55c,
    TAG = 0x570,
    ALG_SEL = 0x700,
    INT_CFG = 0x780,
    INT_EN = 0x784,
    INT_CLR = 0x788,
    INT_STAT = 0x790,
    SAVED_CONTEXT_READY = 1 << 30
};
enum { KEY_STORE = 1, AES = 2, RESULT_AV = 1, DMA_IN_DONE = 2 };

/* Filled in by the test. */
volatile struct {
    uint32_t key_size, ctrl, has_output, auth_bytes, bytes;
    uint32_t iv[4], key[8], tag[4], status, cycles;
    uint8_t auth[512], in[512], out[512];
} job;

static void wait(uint32_t event) {
    while ((REGISTER(INT_STAT) & event) == 0) {
    }
    REGISTER(INT_CLR) = event;
}

static void send(const volatile void *data, uint32_t bytes) {
    REGISTER(CH0_CTRL) = 1;
    REGISTER(CH0_ADDRESS) = (uint32_t)data;
    REGISTER(CH0_LENGTH) = bytes;
}

static void load_key(void) {
    uint32_t areas = job.key_size == 1 ? 1 : 3;
    REGISTER(INT_CFG) = 1;
    REGISTER(INT_EN) = RESULT_AV | DMA_IN_DONE;
    REGISTER(ALG_SEL) = KEY_STORE;
    REGISTER(KEY_SIZE) = job.key_size;
    REGISTER(WRITTEN_AREA) = areas;
    REGISTER(WRITE_AREA) = areas;
    send(job.key, areas == 1 ? 16 : 32);
    wait(RESULT_AV);
    REGISTER(INT_CLR) = DMA_IN_DONE;
    REGISTER(ALG_SEL) = 0;
}

static void crypt(void) {
    REGISTER(ALG_SEL) = AES;
    REGISTER(READ_AREA) = 0;
    while (REGISTER(READ_AREA) >> 31) {
    }
    for (uint32_t i = 0; i < 4; i++) {
        REGISTER(IV + 4 * i) = job.iv[i];
    }
    REGISTER(CTRL) = job.ctrl;
    REGISTER(C_LENGTH_0) = job.bytes;
    REGISTER(C_LENGTH_1) = 0;
    REGISTER(AUTH_LENGTH) = job.auth_bytes;
    if (job.auth_bytes != 0) {
        send(job.auth, job.auth_bytes);
        wait(DMA_IN_DONE);
    }
    if (job.bytes != 0) {
        send(job.in, job.bytes);
        if (job.has_output) {
            REGISTER(CH1_CTRL) = 1;
            REGISTER(CH1_ADDRESS) = (uint32_t)job.out;
            REGISTER(CH1_LENGTH) = job.bytes;
        }
    }
    wait(RESULT_AV);
    REGISTER(INT_CLR) = DMA_IN_DONE;
    job.status = REGISTER(INT_STAT);
    if (REGISTER(CTRL) & SAVED_CONTEXT_READY) {
        for (uint32_t i = 0; i < 4; i++) {
            job.tag[i] = REGISTER(TAG + 4 * i);
        }
    }
    for (uint32_t i = 0; i < 4; i++) {
        job.iv[i] = REGISTER(IV + 4 * i);
    }
    REGISTER(ALG_SEL) = 0;
}

__attribute__((noinline)) void done(void) {
    __asm__ volatile("");
}

void begin(void) {
    for (;;) {
        load_key();
        crypt();
        done();
    }
}
