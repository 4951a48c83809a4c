/* Attacks a bootloader that runs as a program: updates that are altered, and old ones that are sent
   again or written to flash. Whatever comes, the image
   that runs has to be the one that ran, or none if that is gone.

   attacks FILE KIND COUNT SEED

   The file has flash as it is before an attack, from FLASH_START on, then updates: each an
   envelope and an image, with their lengths before them in four bytes each, little-endian. The
   first is newer than what runs, and accepted as it is; the others are older. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "hal.h"
#include "layout.h"
#include "slots.h"

#define FLASH ((uint8_t *)(uintptr_t)FLASH_START)
enum { PAGE_BYTES = UPDATE_SLOT_PAGE_BYTES, MANIFEST_BYTES = 110, UPDATES_MAX = 64 };
enum { STARTED = 1, WAITING = 2 };
enum { ACCEPTED = 'y', REFUSED = 'n' };

typedef struct {
    uint8_t *envelope, *image;
    uint32_t envelope_bytes, image_bytes;
} update;

extern volatile uint32_t update_request;
int bootloader(void);

static jmp_buf stopped;
static uint32_t started, answers, last_answer;
static const uint8_t *parts[3];
static size_t lengths[3], at;
static unsigned part;
static uint64_t drawn;

static void require(int condition, const char *what, unsigned number) {
    if (!condition) {
        printf("attack %u: %s\n", number, what);
        exit(1);
    }
}

/* xorshift64* (Vigna, 2016). */
static uint32_t draw(uint32_t below) {
    drawn ^= drawn >> 12;
    drawn ^= drawn << 25;
    drawn ^= drawn >> 27;
    return (uint32_t)((drawn * 2685821657736338717u) >> 32) % below;
}

void hal_init(void) {
}

uint8_t hal_serial_read(void) {
    while (part < 3 && at == lengths[part]) {
        part++;
        at = 0;
    }
    if (part == 3)
        longjmp(stopped, WAITING);
    return parts[part][at++];
}

void hal_serial_write(uint8_t byte) {
    if (byte == ACCEPTED || byte == REFUSED) {
        answers++;
        last_answer = byte;
        /* What is left of the update would be taken for another. */
        part = 3;
    }
}

void flash_erase(uint32_t address) {
    memset((void *)(uintptr_t)(address - address % PAGE_BYTES), 0xff, PAGE_BYTES);
}

void flash_write(uint32_t address, const uint32_t *words, unsigned count) {
    uint32_t *to = (uint32_t *)(uintptr_t)address;
    for (unsigned i = 0; i < count; i++)
        to[i] &= words[i];
}

void slots_start(uint32_t image) {
    started = image;
    longjmp(stopped, STARTED);
}

/* Runs the bootloader from a reset; returns whether an image starts. */
static int run(const update *sent) {
    uint8_t length[4];
    started = answers = 0;
    part = 3;
    at = 0;
    update_request = 0;
    if (sent != NULL) {
        memcpy(length, &sent->envelope_bytes, sizeof length);
        parts[0] = length, lengths[0] = sizeof length;
        parts[1] = sent->envelope, lengths[1] = sent->envelope_bytes;
        parts[2] = sent->image, lengths[2] = sent->image_bytes;
        part = 0;
        update_request = 0x4a6d7570;
    }
    int how = setjmp(stopped);
    if (how == 0)
        (void)bootloader();
    return how == STARTED;
}

static void plant(const update *u) {
    memset((void *)(uintptr_t)SLOT(1), 0xff, UPDATE_SLOT_BYTES);
    memcpy((void *)(uintptr_t)SLOT(1), u->envelope, u->envelope_bytes);
    memcpy((void *)(uintptr_t)(SLOT(1) + MANIFEST_ROOM), u->image, u->image_bytes);
}

static uint32_t get_32(const uint8_t *from) {
    uint32_t number;
    memcpy(&number, from, sizeof number);
    return number;
}

/* A block of its exact size, so that AddressSanitizer sees every access beyond it. */
static uint8_t *copy(const uint8_t *from, uint32_t length) {
    uint8_t *to = malloc(length);
    if (to == NULL)
        abort();
    return memcpy(to, from, length);
}

/* Changes a bit, a byte, or several bytes in a row to other values. */
static void alter(uint8_t *bytes, uint32_t length) {
    uint32_t first = draw(length), count = 1, how = draw(4);
    if (how == 0)
        bytes[first] ^= (uint8_t)(1u << draw(8));
    else if (how == 1)
        bytes[first] ^= (uint8_t)(1 + draw(255));
    else
        count = 2 + draw(30);
    for (uint32_t i = first; how > 1 && i < first + count && i < length; i++)
        bytes[i] ^= (uint8_t)(how == 2 ? 1 + draw(255) : 0xff);
}

int main(int arguments, char **argument) {
    static uint8_t file[4 << 20];
    static update updates[UPDATES_MAX];
    if (arguments != 5)
        return 2;
    FILE *stream = fopen(argument[1], "rb");
    if (stream == NULL)
        return 2;
    size_t length = fread(file, 1, sizeof file, stream);
    (void)fclose(stream);
    const char *kind = argument[2];
    unsigned count = (unsigned)atoi(argument[3]), updates_there = 0;
    drawn = 0x9e3779b97f4a7c15u + strtoull(argument[4], NULL, 10);
    uint32_t flash_bytes = get_32(file);
    const uint8_t *before = file + 4, *rest = before + flash_bytes;
    for (; rest < file + length && updates_there < UPDATES_MAX; updates_there++) {
        update *u = &updates[updates_there];
        u->envelope_bytes = get_32(rest), u->image_bytes = get_32(rest + 4);
        u->envelope = copy(rest + 8, u->envelope_bytes);
        u->image = copy(rest + 8 + u->envelope_bytes, u->image_bytes);
        rest += 8 + u->envelope_bytes + u->image_bytes;
    }
    /* Pages before and after it are not there. */
    void *there = mmap(FLASH, flash_bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    require(there == FLASH && updates_there >= 2, "no memory for flash, or no updates", 0);

    const uint32_t old = SLOT(0) + MANIFEST_ROOM, new = SLOT(1) + MANIFEST_ROOM;
    memcpy(FLASH, before, flash_bytes);
    require(run(NULL) && started == old, "what runs does not start", 0);
    require(run(&updates[0]) && started == new && last_answer == ACCEPTED,
            "a right update does not start", 0);
    memcpy(FLASH, before, flash_bytes);
    plant(&updates[0]);
    require(run(NULL) && started == new, "a right update in flash does not start", 0);

    const uint32_t slot_bytes = UPDATE_SLOT_BYTES;
    for (unsigned number = 1; number <= count; number++) {
        const update *right = &updates[0];
        int is_replay = strcmp(kind, "replay") == 0;
        if (is_replay)
            right = &updates[1 + draw(updates_there - 1)];
        update sent = *right;
        sent.envelope = copy(right->envelope, right->envelope_bytes);
        sent.image = copy(right->image, right->image_bytes);
        uint32_t manifest = sent.envelope_bytes - MANIFEST_BYTES;
        if (strcmp(kind, "image") == 0)
            alter(sent.image, sent.image_bytes);
        else if (strcmp(kind, "manifest") == 0)
            alter(sent.envelope + manifest, MANIFEST_BYTES);
        else if (strcmp(kind, "signature") == 0)
            alter(sent.envelope, manifest);
        else if (!is_replay)
            return 2;
        memcpy(FLASH, before, flash_bytes);
        /* Sent, or written to flash by somebody else, who may also have erased what runs. */
        int is_sent = (int)draw(2), is_alone = !is_sent && draw(2) == 0;
        if (!is_sent)
            plant(&sent);
        if (is_alone)
            memset((void *)(uintptr_t)SLOT(0), 0xff, slot_bytes);
        int is_started = run(is_sent ? &sent : NULL);
        if (is_alone) {
            require(!is_started, "it starts, alone", number);
        } else {
            require(is_started, "nothing starts", number);
            require(started == old, "it starts", number);
            require(!is_sent || (answers == 1 && last_answer == REFUSED), "it is accepted", number);
            require(memcmp((const void *)(uintptr_t)SLOT(0), before + SLOT(0) - FLASH_START,
                           slot_bytes) == 0,
                    "what runs is changed", number);
        }
        free(sent.envelope);
        free(sent.image);
    }
    printf("%s: %u, 0 started\n", kind, count);
    return 0;
}
