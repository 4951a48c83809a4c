/* A bootloader with two slots. It starts the newest image that is signed, whole and not older than
   the counter; an update goes to the other slot, so that a power failure at any moment leaves an
   image to start. Images run where they lie, so nothing is copied, or slots are apart from where an
   image runs, and it is copied there.

   An update comes over the serial line on request of the application, or if there is nothing to
   start: the manifest's length in four bytes, the manifest, the image. The bootloader asks for each
   block with READY, and ends with ACCEPTED or REFUSED. */
#include "check.h"
#include "counter.h"
#include "flash.h"
#include "hal.h"
#include "layout.h"
#include "sha256.h"
#include "slots.h"
#include "suit.h"

enum { SLOTS = 2, BLOCK_BYTES = 256, READY = 'r', ACCEPTED = 'y', REFUSED = 'n' };

_Static_assert(SLOT_PAGE_BYTES % BLOCK_BYTES == 0, "a block is in one page");

/* The application writes REQUESTED here and resets the chip. RAM is arbitrary after power-on; the
   bootloader then waits for an update with a probability of 2^-32. */
#define REQUESTED 0x4a6d7570u
HAL_NOINIT volatile uint32_t update_request;

static uint32_t block[BLOCK_BYTES / 4];

static uint32_t image_of(unsigned slot) {
    return SLOT(slot) + MANIFEST_ROOM;
}

/* The stages below are not inlined, so that each can be measured. */

__attribute__((noinline)) void update_hash(sha256_ctx *ctx, const uint8_t *data, size_t length) {
    sha256_update(ctx, data, length);
}

__attribute__((noinline)) void update_erase(uint32_t address) {
    slots_erase(address);
}

__attribute__((noinline)) void update_write(uint32_t address, const uint32_t *words,
                                            unsigned count) {
    slots_write(address, words, count);
}

__attribute__((noinline)) void update_receive(uint8_t *to, unsigned count) {
    hal_serial_write(READY);
    for (unsigned i = 0; i < count; i++)
        to[i] = hal_serial_read();
}

/* Where slots are apart, these are stages, too. */

__attribute__((noinline, unused)) static void update_read(uint32_t address, unsigned count) {
    slots_read(address, (uint8_t *)block, count);
}

__attribute__((noinline, unused)) static void update_install(uint32_t at, unsigned count) {
    if (at % RUN_PAGE_BYTES == 0)
        flash_erase(RUN + at);
    flash_write(RUN + at, block, (count + 3) / 4);
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

static unsigned block_of(uint32_t at, uint32_t length) {
    return length - at < BLOCK_BYTES ? (unsigned)(length - at) : BLOCK_BYTES;
}

/* Whether what runs, or what lies in a slot apart, is a manifest's image. */
static int is_whole(const suit_manifest *m, uint32_t address, int is_apart) {
    sha256_ctx ctx;
    sha256_init(&ctx);
    if (is_apart)
        for (uint32_t at = 0; at < m->image_bytes; at += BLOCK_BYTES) {
            unsigned count = block_of(at, m->image_bytes);
            update_read(address + at, count);
            update_hash(&ctx, (const uint8_t *)block, count);
        }
    else
        update_hash(&ctx, (const uint8_t *)(uintptr_t)address, m->image_bytes);
    return is_digest(&ctx, m);
}

/* Whether an image is where it runs. It is copied there if it is not and is whole in its slot; a
   copy that is cut short is begun again by the next start. */
static int is_installed(const suit_manifest *m, unsigned slot) {
    if (!SLOTS_ARE_APART)
        return is_whole(m, image_of(slot), 0);
    if (is_whole(m, RUN, 0))
        return 1;
    if (!is_whole(m, image_of(slot), 1))
        return 0;
    for (uint32_t at = 0; at < m->image_bytes; at += BLOCK_BYTES) {
        unsigned count = block_of(at, m->image_bytes);
        update_read(image_of(slot) + at, count);
        update_install(at, count);
    }
    return is_whole(m, RUN, 0);
}

/* Reads a slot's manifest; returns whether there is one. */
static int is_there(suit_manifest *m, unsigned slot) {
    return suit_decode(m, slots_manifest(slot), MANIFEST_ROOM) != 0;
}

/* Returns the slot of the newest image that may be started, or SLOTS. Older ones never may again.
 */
static unsigned select(void) {
    suit_manifest m;
    uint32_t oldest = counter_read(), sequence[SLOTS];
    for (unsigned slot = 0; slot < SLOTS; slot++)
        sequence[slot] = is_there(&m, slot) ? m.sequence : 0;
    unsigned slot = sequence[1] > sequence[0];
    for (unsigned tried = 0; tried < SLOTS; tried++, slot ^= 1) {
        if (!is_there(&m, slot) || m.sequence < oldest || !is_signed(&m, slot) ||
            !is_installed(&m, slot))
            continue;
        if (m.sequence > oldest)
            counter_raise(m.sequence);
        return slot;
    }
    return SLOTS;
}

/* Receives bytes into flash, and hashes them as they come. */
static void store(uint32_t address, uint32_t length, sha256_ctx *ctx) {
    for (uint32_t at = 0; at < length; at += BLOCK_BYTES) {
        unsigned count = block_of(at, length);
        block[(count - 1) / 4] = UINT32_MAX;
        update_receive((uint8_t *)block, count);
        if ((address + at) % SLOT_PAGE_BYTES == 0)
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
    if (suit_decode(&m, slots_manifest(slot), length) != length || m.sequence <= counter_read() ||
        !is_signed(&m, slot))
        return 0;
    sha256_init(&ctx);
    store(image_of(slot), m.image_bytes, &ctx);
    return is_digest(&ctx, &m);
}

int main(void) {
    hal_init();
    slots_init();
    for (;;) {
        unsigned slot = select();
        uint8_t is_requested = update_request == REQUESTED;
        update_request = 0;
        if (slot < SLOTS && !is_requested)
            slots_start(SLOTS_ARE_APART ? RUN : image_of(slot));
        hal_serial_write(receive(slot == 0) ? ACCEPTED : REFUSED);
    }
}
