/* The firmware's frame security as a program for this machine, with a radio that is two buffers, or
   with a board's driver over a chip that is simulated.

     ieee802154_host serve      one command a line on standard input, one answer a line
     ieee802154_host fuzz N S   N frames from seed S that must be refused, and that are

   A security rule lets every level from 1 to 7 in. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <sys/mman.h>

#include "air.h"
#include "ccm-strategy.h"
#include "frame.h"
#include "security.h"

enum { KEYS = 4, DEVICES = 4 };

/* ---- Frames that come in ---- */

/* What comes next, as air_receive is told. */
static uint8_t next[RADIO_FRAME_BYTES_MAX], next_bytes;
static air_fault next_fault;

static void receive(const uint8_t *frame, size_t length) {
    if (length > RADIO_FRAME_BYTES_MAX)
        abort();
    memcpy(next, frame, length);
    next_bytes = (uint8_t)length;
    next_fault = AIR_RIGHT;
}

/* Returns memory of which the sanitizer admits only this many bytes, at a 32-bit address, which the
   chips' DMA needs. */
static uint8_t *room(size_t bytes) {
    static uint8_t memory[RADIO_PSDU_BYTES_MAX + 1];
    ASAN_UNPOISON_MEMORY_REGION(memory, sizeof memory);
    memset(memory, 0xa5, sizeof memory);
    ASAN_POISON_MEMORY_REGION(memory, sizeof memory);
    ASAN_UNPOISON_MEMORY_REGION(memory, bytes);
    return memory;
}

/* Receives a frame into no more room than the interface promises; memory.c's radio has the exact
   length of each. */
static security_status take(const security_asn *asn, uint8_t **out, frame_header *header) {
    *out = room(air_has_faults ? RADIO_FRAME_BYTES_MAX : next_bytes);
    if (!air_receive(next, next_bytes, next_fault, CCM_STRATEGY_STREAMS))
        return SECURITY_NO_FRAME;
    return security_receive(asn, NULL, *out, header, NULL);
}

/* ---- Commands ---- */

static char *word(void) {
    char *next = strtok(NULL, " \n");
    if (next == NULL) {
        fputs("a command lacks a word\n", stderr);
        exit(2);
    }
    return next;
}

static unsigned long long number(void) {
    return strtoull(word(), NULL, 0);
}

/* `-` stands for no bytes. */
static size_t bytes(uint8_t *to, size_t room) {
    const char *text = word();
    size_t count = strcmp(text, "-") == 0 ? 0 : strlen(text) / 2;
    if (count > room)
        abort();
    for (size_t i = 0; i < count; i++) {
        unsigned value;
        sscanf(text + 2 * i, "%2x", &value);
        to[i] = (uint8_t)value;
    }
    return count;
}

static void print(const uint8_t *from, size_t count) {
    if (count == 0)
        putchar('-');
    for (size_t i = 0; i < count; i++)
        printf("%02x", from[i]);
}

static void take_address(frame_address *address) {
    address->mode = (uint8_t)number();
    address->pan = (uint16_t)number();
    bytes(address->bytes, sizeof address->bytes);
}

static bool take_asn(security_asn *asn) {
    const char *text = word();
    unsigned long long value = strtoull(text, NULL, 0);
    *asn = (security_asn){(uint32_t)value, (uint8_t)(value >> 32)};
    return strcmp(text, "-") != 0;
}

static uint8_t keys[KEYS][SECURITY_KEY_BYTES];
static unsigned key_count;

static void command_key(void) {
    security_key key = {0};
    bytes(keys[key_count], SECURITY_KEY_BYTES);
    key.key = keys[key_count++];
    key.mode = (uint8_t)number();
    key.index = (uint8_t)number();
    bytes(key.source, sizeof key.source);
    take_address(&key.device);
    key.frame_types = (uint8_t)number();
    printf("%d\n", security_add_key(&key));
}

static void command_device(void) {
    security_device device = {0};
    device.pan = (uint16_t)number();
    device.short_address = (uint16_t)number();
    bytes(device.extended_address, 8);
    device.exempt = number();
    printf("%d\n", security_add_device(&device));
}

static void command_rule(void) {
    security_rule rule = {0};
    rule.frame_type = (uint8_t)number();
    rule.command = (uint8_t)number();
    rule.levels = (uint8_t)number();
    rule.exempt_unsecured = number();
    printf("%d\n", security_add_rule(&rule));
}

static void command_send(void) {
    security_asn asn;
    bool tsch = take_asn(&asn);
    frame_header header = {0};
    header.type = (uint8_t)number();
    header.version = (uint8_t)number();
    header.acknowledge = number();
    header.pan_compressed = number();
    header.no_sequence = number();
    header.sequence = (uint8_t)number();
    header.elements = number();
    take_address(&header.destination);
    take_address(&header.source);
    header.security.level = (uint8_t)number();
    header.security.key_id_mode = (uint8_t)number();
    header.security.counter_suppressed = number();
    header.security.asn_in_nonce = number();
    bytes(header.security.key_source, 8);
    header.security.key_index = (uint8_t)number();
    uint8_t elements[RADIO_FRAME_BYTES_MAX], payload[RADIO_FRAME_BYTES_MAX];
    size_t element_bytes = bytes(elements, sizeof elements); /* open ones, and of the header */
    size_t payload_bytes = bytes(payload, sizeof payload);
    uint8_t frame[256];
    frame_header plain = header;
    plain.security.level = 0;
    size_t total = frame_write(frame, &plain) + element_bytes + payload_bytes;
    security_status status = security_prepare(&header, (uint8_t)(total < 255 ? total : 255));
    printf("%d ", status);
    if (status == SECURITY_OK) {
        uint8_t at = frame_write(frame, &header);
        memcpy(frame + at, elements, element_bytes);
        header.open = (uint8_t)(at + element_bytes);
        memcpy(frame + header.open, payload, payload_bytes);
        security_load(&header, tsch ? &asn : NULL, frame, (uint8_t)(header.open + payload_bytes));
        uint8_t loaded[RADIO_FRAME_BYTES_MAX];
        uint8_t loaded_bytes = air_loaded(loaded);
        print(loaded, loaded_bytes);
    }
    putchar('\n');
}

/* status type version sequence level open mic plaintext */
static void command_receive(void) {
    security_asn asn;
    bool tsch = take_asn(&asn);
    uint8_t frame[256], *out;
    receive(frame, bytes(frame, RADIO_FRAME_BYTES_MAX));
    frame_header header = {0};
    security_status status = take(tsch ? &asn : NULL, &out, &header);
    printf("%d ", status);
    if (status == SECURITY_OK) {
        printf("%d %d %d %d %d %d ", header.type, header.version, header.sequence,
               header.security.level, header.open, header.mic);
        print(out + header.open, header.mic - header.open);
    }
    putchar('\n');
}

static void serve(void) {
    char line[2048];
    while (fgets(line, sizeof line, stdin) != NULL) {
        const char *name = strtok(line, " \n");
        if (name == NULL)
            continue;
        if (strcmp(name, "init") == 0) {
            uint8_t own[8];
            bytes(own, 8);
            security_init(own);
            security_counter = (uint32_t)number();
            key_count = 0;
            puts("1");
        } else if (strcmp(name, "key") == 0) {
            command_key();
        } else if (strcmp(name, "device") == 0) {
            command_device();
        } else if (strcmp(name, "rule") == 0) {
            command_rule();
        } else if (strcmp(name, "send") == 0) {
            command_send();
        } else if (strcmp(name, "receive") == 0) {
            command_receive();
        } else {
            fprintf(stderr, "no command %s\n", name);
            exit(2);
        }
        fflush(stdout);
    }
}

/* ---- Frames that must be refused ---- */

static uint64_t state;

/* Steele, Lea, Flood: Fast splittable pseudorandom number generators (2014), figure 16. */
uint32_t chance(uint32_t below) {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return (uint32_t)((z ^ z >> 31) >> 32) % below;
}

static void fill(uint8_t *to, size_t count) {
    for (size_t i = 0; i < count; i++)
        to[i] = (uint8_t)chance(256);
}

static uint8_t addresses[DEVICES][8];

static void world(void) {
    uint8_t own[8];
    fill(own, 8);
    security_init(own);
    security_counter = chance(1000);
    for (unsigned i = 0; i < DEVICES; i++) {
        fill(addresses[i], 8);
        security_device device = {.pan = 0xcafe, .short_address = (uint16_t)(0x100 + i)};
        memcpy(device.extended_address, addresses[i], 8);
        security_add_device(&device);
    }
    for (uint8_t mode = 0; mode < KEYS; mode++) {
        security_key key = {.key = keys[mode], .mode = mode, .index = 1, .frame_types = 0x0f};
        fill(keys[mode], SECURITY_KEY_BYTES);
        memset(key.source, 0x5a, sizeof key.source);
        key.device = (frame_address){ADDRESS_EXTENDED, 0xcafe, {0}};
        memcpy(key.device.bytes, addresses[0], 8);
        security_add_key(&key);
    }
    for (uint8_t type = 0; type < 4; type++) {
        /* Level 4 has no MIC, so anybody can forge its frames: it is left out here. */
        security_rule rule = {.frame_type = type, .levels = 0xee};
        security_add_rule(&rule);
    }
}

/* A frame that device `who` sends; returns its length. */
static uint8_t make(unsigned who, const security_asn *asn, uint8_t *frame) {
    static const uint8_t levels[] = {1, 2, 3, 5, 6, 7};
    uint8_t mode = (uint8_t)chance(who == 0 ? 4 : 3) + (who == 0 ? 0 : 1);
    frame_header header = {.type = FRAME_DATA,
                           .version = asn != NULL ? FRAME_VERSION_2015 : FRAME_VERSION_2006,
                           .pan_compressed = asn == NULL,
                           .sequence = (uint8_t)chance(256)};
    header.destination = (frame_address){ADDRESS_EXTENDED, 0xcafe, {0}};
    memcpy(header.destination.bytes, addresses[0], 8);
    header.source = (frame_address){ADDRESS_EXTENDED, 0xcafe, {0}};
    memcpy(header.source.bytes, addresses[who], 8);
    header.security = (frame_security){.level = levels[chance(sizeof levels)],
                                       .key_id_mode = mode,
                                       .counter_suppressed = asn != NULL,
                                       .asn_in_nonce = asn != NULL,
                                       .key_index = 1};
    memset(header.security.key_source, 0x5a, 8);
    uint8_t payload = (uint8_t)chance(60);
    if (security_prepare(&header, 40) != SECURITY_OK)
        abort();
    header.open = frame_write(frame, &header);
    fill(frame + header.open, payload);
    security_load(&header, asn, frame, (uint8_t)(header.open + payload));
    return air_loaded(frame);
}

static void refuse(const security_asn *asn, const char *why) {
    uint8_t *out;
    frame_header header;
    security_status status = take(asn, &out, &header);
    if (status == SECURITY_OK) {
        fprintf(stderr, "accepted: %s\n", why);
        exit(1);
    }
}

static void accept(const security_asn *asn, const char *why) {
    uint8_t *out;
    frame_header header;
    security_status status = take(asn, &out, &header);
    if (status != SECURITY_OK) {
        fprintf(stderr, "refused with %d: %s\n", status, why);
        exit(1);
    }
}

/* Something is wrong with a frame apart from its contents. */
static air_fault fault_of_genuine(void) {
    static const air_fault faults[] = {AIR_FCS_WRONG, AIR_CUT, AIR_LENGTH};
    return faults[chance(3)];
}

static air_fault fault_of_changed(void) {
    static const air_fault faults[] = {AIR_FCS_WRONG, AIR_CUT, AIR_CROWD};
    return air_has_faults && chance(3) == 0 ? faults[chance(3)] : AIR_RIGHT;
}

static void fuzz(unsigned long frames) {
    unsigned long refused = 0, accepted = 0;
    uint8_t frame[RADIO_FRAME_BYTES_MAX] = {0}, other[RADIO_FRAME_BYTES_MAX];
    security_asn asn = {0}, later;
    bool is_fresh = false; /* nothing was accepted from a lying radio */
    while (refused < frames) {
        if (accepted % 64 == 0 || !is_fresh) {
            is_fresh = true;
            world();
            asn = (security_asn){0xfffffff0u, (uint8_t)chance(4)};
        }
        asn.low += 1 + chance(3);
        asn.high += asn.low < 4;
        bool tsch = chance(2);
        const security_asn *slot = tsch ? &asn : NULL;
        unsigned who = chance(DEVICES);
        uint8_t length = make(who, slot, frame);
        for (unsigned i = 0; i < 24; i++, refused++) {
            memcpy(other, frame, sizeof other);
            uint8_t bytes_left = length;
            switch (chance(6)) {
            case 0: /* a bit */
            case 1: {
                unsigned bit = chance(8u * length);
                other[bit / 8] ^= (uint8_t)(1u << bit % 8);
                break;
            }
            case 2: /* cut */
                bytes_left = (uint8_t)chance(length);
                break;
            case 3: /* lengthened */
                bytes_left = (uint8_t)(length + 1 + chance(RADIO_FRAME_BYTES_MAX - length));
                fill(other + length, (size_t)(bytes_left - length));
                break;
            case 4: { /* some bytes, never all as they were */
                size_t from = chance(length), count = 1 + chance((uint32_t)(length - from));
                do
                    fill(other + from, count);
                while (memcmp(other, frame, length) == 0);
                break;
            }
            default: /* anything; a beginning that is a secured frame's more often than not */
                bytes_left = (uint8_t)(1 + chance(RADIO_FRAME_BYTES_MAX));
                fill(other + (chance(2) ? 0 : 2), sizeof other - 2);
                if (bytes_left == length && memcmp(other, frame, length) == 0)
                    continue;
            }
            receive(other, bytes_left);
            next_fault = fault_of_changed();
            refuse(slot, "changed");
        }
        for (unsigned i = 0; air_has_faults && i < 6; i++, refused++) {
            receive(frame, length);
            next_fault = fault_of_genuine();
            refuse(slot, "disturbed");
        }
        if (tsch) { /* in another slot */
            later = (security_asn){asn.low + 1 + chance(100), asn.high};
            receive(frame, length);
            refuse(&later, "in another slot");
            receive(frame, length);
            refuse(NULL, "without a slot");
            refused += 2;
        }
        receive(frame, length);
        accept(slot, "unchanged");
        accepted++;
        receive(frame, length);
        refuse(slot, "replayed");
        refused++;
        /* A radio that answers at random may say anything: it must do no harm. */
        for (unsigned i = 0; air_has_faults && i < 2; i++, refused++) {
            uint8_t *out;
            frame_header header;
            receive(other, (size_t)(1 + chance(RADIO_FRAME_BYTES_MAX)));
            next_fault = AIR_LIES;
            is_fresh = take(slot, &out, &header) != SECURITY_OK && is_fresh;
            air_calm();
        }
    }
    printf("%lu refused, %lu accepted\n", refused, accepted);
}

typedef struct {
    int count;
    char **words;
    int status;
} request;

static void *work(void *argument) {
    request *r = argument;
    air_start();
    r->status = 0;
    if (r->count == 2 && strcmp(r->words[1], "serve") == 0) {
        serve();
    } else if (r->count == 4 && strcmp(r->words[1], "fuzz") == 0) {
        state = strtoull(r->words[3], NULL, 0);
        fuzz(strtoul(r->words[2], NULL, 0));
    } else {
        r->status = 2;
    }
    return NULL;
}

/* The chips' DMA takes 32-bit addresses: what drivers give it is on this stack, or is static in a
   program that is linked to low addresses. */
const char *__asan_default_options(void) {
    return "detect_stack_use_after_return=0";
}

int main(int count, char **words) {
    enum { STACK_BYTES = 1 << 20 };
    void *stack = mmap((void *)0x50000000, STACK_BYTES, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    request r = {count, words, 2};
    pthread_attr_t attributes;
    pthread_t thread;
    if (stack == MAP_FAILED || pthread_attr_init(&attributes) != 0 ||
        pthread_attr_setstack(&attributes, stack, STACK_BYTES) != 0 ||
        pthread_create(&thread, &attributes, work, &r) != 0 || pthread_join(thread, NULL) != 0)
        return 2;
    return r.status;
}
