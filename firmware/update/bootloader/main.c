/* A bootloader with two slots. It starts the newest image that is signed, whole and not older than
   the counter; an update goes to the other slot, so that a power failure at any moment leaves an
   image to start. Images run where they lie, so nothing is copied.

   An update comes over the serial line on request of the application, or if there is nothing to
   start: the manifest's length in four bytes, the manifest, the image. The bootloader asks for each
   block with READY, and ends with ACCEPTED or REFUSED. */
#include "check.h"
#include "counter.h"
#include "hal.h"
#include "layout.h"
#include "series.h"
#include "sha256.h"
#include "suit.h"

enum { SLOTS = 2, BLOCK_BYTES = 256, READY = 'r', ACCEPTED = 'y', REFUSED = 'n' };

_Static_assert(FLASH_PAGE_BYTES > 0, "firmware/hal/armv7m has no flash.c for this series of chips");
_Static_assert(FLASH_PAGE_BYTES % BLOCK_BYTES == 0, "a block is in one page");

/* The application writes REQUESTED here and resets the chip. RAM is arbitrary after power-on; the
   bootloader then waits for an update with a probability of 2^-32. */
#define REQUESTED 0x4a6d7570u
HAL_NOINIT volatile uint32_t update_request;

static uint32_t block[BLOCK_BYTES / 4];

static const uint8_t *manifest_of(unsigned slot) {
    return (const uint8_t *)SLOT(slot);
}

static uint32_t image_of(unsigned slot) {
    return SLOT(slot) + MANIFEST_ROOM;
}

/* The stages below are not inlined, so that each can be measured. */

__attribute__((noinline)) void update_hash(sha256_ctx *ctx, const uint8_t *data, size_t length) {
    sha256_update(ctx, data, length);
}

__attribute__((noinline)) void update_erase(uint32_t address) {
    flash_erase(address);
}

__attribute__((noinline)) void update_write(uint32_t address, const uint32_t *words,
                                            unsigned count) {
    flash_write(address, words, count);
}

__attribute__((noinline)) void update_receive(uint8_t *to, unsigned count) {
    hal_serial_write(READY);
    for (unsigned i = 0; i < count; i++)
        to[i] = hal_serial_read();
}

static int is_signed(const suit_manifest *m, unsigned slot) {
    const update_place place = {IDENTITY, (uint8_t)slot, IMAGE_ROOM};
    return update_check_manifest(m, &place);
}

static int is_digest(sha256_ctx *ctx, const suit_manifest *m) {
    uint8_t hash[SUIT_DIGEST_BYTES];
    sha256_final(ctx, hash);
    return crypto_equal(hash, m->image_digest, sizeof hash);
}

static int is_startable(const suit_manifest *m, unsigned slot, uint32_t oldest) {
    sha256_ctx ctx;
    if (m->sequence < oldest || !is_signed(m, slot))
        return 0;
    sha256_init(&ctx);
    update_hash(&ctx, (const uint8_t *)image_of(slot), m->image_bytes);
    return is_digest(&ctx, m);
}

/* Returns the slot of the newest image that may be started, or SLOTS. Older ones never may again.
 */
static unsigned select(void) {
    suit_manifest m[SLOTS];
    uint8_t is_there[SLOTS];
    uint32_t oldest = counter_read();
    for (unsigned slot = 0; slot < SLOTS; slot++)
        is_there[slot] = suit_decode(&m[slot], manifest_of(slot), MANIFEST_ROOM) != 0;
    unsigned slot = is_there[1] && (!is_there[0] || m[1].sequence > m[0].sequence);
    for (unsigned tried = 0; tried < SLOTS; tried++, slot ^= 1)
        if (is_there[slot] && is_startable(&m[slot], slot, oldest)) {
            if (m[slot].sequence > oldest)
                counter_raise(m[slot].sequence);
            return slot;
        }
    return SLOTS;
}

/* Receives bytes into flash, and hashes them as they come. */
static void store(uint32_t address, uint32_t length, sha256_ctx *ctx) {
    for (uint32_t at = 0; at < length; at += BLOCK_BYTES) {
        unsigned count = length - at < BLOCK_BYTES ? (unsigned)(length - at) : BLOCK_BYTES;
        block[(count - 1) / 4] = UINT32_MAX;
        update_receive((uint8_t *)block, count);
        if (at % FLASH_PAGE_BYTES == 0)
            update_erase(address + at);
        if (ctx != NULL)
            update_hash(ctx, (const uint8_t *)block, count);
        update_write(address + at, block, (count + 3) / 4);
    }
}

static int receive(unsigned slot) {
    suit_manifest m;
    sha256_ctx ctx;
    update_receive((uint8_t *)block, 4);
    uint32_t length = block[0];
    if (length == 0 || length > MANIFEST_ROOM)
        return 0;
    store(SLOT(slot), length, NULL);
    if (suit_decode(&m, manifest_of(slot), length) != length || m.sequence <= counter_read() ||
        !is_signed(&m, slot))
        return 0;
    sha256_init(&ctx);
    store(image_of(slot), m.image_bytes, &ctx);
    return is_digest(&ctx, &m);
}

/* Vector table offset register (ARM DDI 0403E, section B3.2.5). */
#define VTOR (*(volatile uint32_t *)0xe000ed08)

/* Starts an image as a reset would. */
__attribute__((noreturn)) static void start(unsigned slot) {
    const uint32_t *vectors = (const uint32_t *)image_of(slot);
    serial_interrupt_wakes_not();
    serial_interrupt_forget();
    VTOR = image_of(slot);
    __asm__ volatile("dsb\n\tmsr msp, %0\n\tcpsie i\n\tisb\n\tbx %1" ::"r"(vectors[0]),
                     "r"(vectors[1])
                     : "memory");
    __builtin_unreachable();
}

int main(void) {
    hal_init();
    for (;;) {
        unsigned slot = select();
        uint8_t is_requested = update_request == REQUESTED;
        update_request = 0;
        if (slot < SLOTS && !is_requested)
            start(slot);
        hal_serial_write(receive(slot == 0) ? ACCEPTED : REFUSED);
    }
}
