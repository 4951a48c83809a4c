/* A mote or the authority of PLASA as a program: commands on standard input, one answer each. Built
   with PLASA_IS_AUTHORITY it has the authority's modules, else a mote's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boots.h"
#include "keydb.h"
#include "messages.h"
#include "reconfiguration.h"
#include "star.h"
#if PLASA_IS_AUTHORITY
#include "authority.h"
#include "manager.h"
#else
#include "authentication.h"
#include "client.h"
#include "recovery.h"
#endif

enum { ROOM = 116 };

static uint16_t boots = 1;

uint16_t boots_count(void) {
    return boots;
}

static uint8_t data[256];
static uint8_t out[256];

static uint8_t bytes_of(const char *hex) {
    size_t length = strcmp(hex, "-") == 0 ? 0 : strlen(hex) / 2;
    if (length > 255)
        abort();
    for (size_t i = 0; i < length; i++) {
        char digits[] = {hex[2 * i], hex[2 * i + 1], 0};
        data[i] = (uint8_t)strtoul(digits, 0, 16);
    }
    return (uint8_t)length;
}

static void say(const uint8_t *bytes, size_t length) {
    if (length == 0)
        printf("-");
    for (size_t i = 0; i < length; i++)
        printf("%02x", bytes[i]);
    printf("\n");
}

/* Allocates exactly as many bytes as there are, so that the sanitizer sees a read beyond. */
static uint8_t *exactly(uint8_t length) {
    uint8_t *copy = malloc(length == 0 ? 1 : length);
    if (copy == 0)
        abort();
    memcpy(copy, data, length);
    return copy;
}

static void refused(void) {
    printf("refused\n");
}

static void serve(char *words[], int count) {
    const char *what = words[0];
    unsigned long n[6] = {0};
    for (int i = 1; i < count && i <= 5; i++)
        n[i] = strtoul(words[i], 0, 0);
    uint8_t length = count > 1 ? bytes_of(words[count - 1]) : 0;
    uint8_t *message = exactly(length);
    if (strcmp(what, "boot") == 0) {
        boots = (uint16_t)n[1];
        printf("ok\n");
    } else if (strcmp(what, "set") == 0) {
        printf("%d\n", length == KEYDB_KEY_BYTES
                           ? (int)keydb_set((uint8_t)n[1], (uint8_t)n[2], message)
                           : -1);
    } else if (strcmp(what, "get") == 0) {
        const uint8_t *key = keydb_get((uint8_t)n[1], (uint8_t)n[2]);
        say(key, key == 0 ? 0 : KEYDB_KEY_BYTES);
    } else if (strcmp(what, "remove") == 0) {
        keydb_remove((uint8_t)n[1]);
        printf("ok\n");
    } else if (strcmp(what, "flow") == 0) {
        printf("%d\n", star_flow((uint16_t)n[1], (uint16_t)n[2], (uint8_t)n[3]));
    } else if (strcmp(what, "change") == 0) {
        printf("%d\n", star_change((uint8_t)n[1], (uint8_t)n[2], (uint8_t)n[3]));
    } else if (strcmp(what, "enable") == 0) {
        printf("%d\n", star_enable((uint8_t)n[1], n[2] != 0));
    } else if (strcmp(what, "secure") == 0) { /* to, payload */
        uint8_t packed = star_secure((uint16_t)n[1], message, length, out, ROOM);
        if (packed == 0)
            refused();
        else
            say(out, packed);
    } else if (strcmp(what, "unsecure") == 0) { /* from, to, packet */
        uint8_t left = length;
        if (star_unsecure((uint16_t)n[1], (uint16_t)n[2], message, &left)) {
            say(message, left);
        } else {
            for (uint8_t i = 0; i < length; i++)
                if (message[i] != 0)
                    abort(); /* part of a refused packet was left */
            refused();
        }
    } else if (strcmp(what, "reconfigure") == 0) { /* label, policy, key, number */
        if (reconfiguration_write((uint8_t)n[1], (uint8_t)n[2], (uint8_t)n[3], (uint32_t)n[4], out))
            say(out, RECONFIGURATION_BYTES);
        else
            refused();
    } else if (strcmp(what, "reconfiguration") == 0) {
        printf("%d\n", reconfiguration_take(message, length));
#if PLASA_IS_AUTHORITY
    } else if (strcmp(what, "start") == 0) {
        manager_start();
        printf("ok\n");
    } else if (strcmp(what, "hello") == 0) { /* from, hello */
        if (authority_hello(1, (uint16_t)n[1], message, length, manager_epoch(), out))
            say(out, CHALLENGE_BYTES);
        else
            refused();
    } else if (strcmp(what, "confirmation") == 0) { /* from, confirmation */
        printf("%d\n", authority_confirmation((uint16_t)n[1], message, length));
    } else if (strcmp(what, "renew") == 0) {
        if (manager_renew((uint8_t)n[1], out))
            say(out, RENEWAL_BYTES);
        else
            refused();
    } else if (strcmp(what, "request") == 0) { /* from, request */
        uint8_t id = authority_key_id((uint16_t)n[1]);
        if (manager_request(id, message, length, out))
            say(out, RENEWAL_BYTES);
        else
            refused();
#else
    } else if (strcmp(what, "hello") == 0) {
        authentication_hello(out);
        say(out, HELLO_BYTES);
    } else if (strcmp(what, "challenge") == 0) { /* from, challenge */
        uint32_t epoch;
        if (authentication_challenge((uint16_t)n[1], message, length, out, &epoch)) {
            client_start(epoch);
            recovery_start(epoch);
            say(out, CONFIRMATION_BYTES);
        } else {
            refused();
        }
    } else if (strcmp(what, "renewal") == 0) {
        printf("%d\n", client_renewal(message, length));
    } else if (strcmp(what, "request") == 0) {
        if (recovery_request((uint8_t)n[1], out))
            say(out, REQUEST_BYTES);
        else
            refused();
    } else if (strcmp(what, "answer") == 0) {
        printf("%d\n", recovery_answer(message, length));
#endif
    } else {
        abort();
    }
    free(message);
}

/* Gives random messages and modified genuine ones to every parser: none may be accepted. */
static uint64_t state;

static uint32_t chance(uint32_t below) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % below);
}

static int taken(uint8_t *message, uint8_t length) {
    uint8_t left = length;
#if PLASA_IS_AUTHORITY
    int count = authority_confirmation(2, message, length);
    count += manager_request(authority_key_id(2), message, length, out);
#else
    uint32_t epoch;
    int count = authentication_challenge(1, message, length, out, &epoch);
    count += client_renewal(message, length);
    count += recovery_answer(message, length);
#endif
    count += reconfiguration_take(message, length);
    return count + star_unsecure(2, 1, message, &left);
}

/* fuzz COUNT SEED, and genuine messages to change, one a line, up to an empty one. */
static void fuzz(unsigned long count, unsigned long seed) {
    static uint8_t genuine[16][256];
    static uint8_t lengths[16];
    unsigned kinds = 0;
    char line[1024];
    while (kinds < 16 && fgets(line, sizeof line, stdin) != 0 && line[0] != '\n') {
        line[strcspn(line, "\n")] = 0;
        lengths[kinds] = bytes_of(line);
        memcpy(genuine[kinds], data, lengths[kinds]);
        kinds++;
    }
    state = seed;
    unsigned long accepted = 0;
    for (unsigned long i = 0; i < count; i++) {
        uint8_t length;
        if (kinds == 0 || chance(4) == 0) {
            length = (uint8_t)chance(128);
            for (uint8_t k = 0; k < length; k++)
                data[k] = (uint8_t)chance(256);
            if (length > 0 && chance(2) == 0)
                data[0] = (uint8_t)(0xe1 + chance(7));
        } else {
            unsigned kind = chance(kinds);
            length = lengths[kind];
            memcpy(data, genuine[kind], length);
            switch (chance(3)) {
            case 0: /* a bit */
                data[chance(length)] ^= (uint8_t)(1u << chance(8));
                break;
            case 1: /* shorter */
                length = (uint8_t)chance(length);
                break;
            default: /* longer */
                data[length] = (uint8_t)chance(256);
                length++;
            }
        }
        uint8_t *message = exactly(length);
        accepted += (unsigned long)taken(message, length);
        free(message);
    }
    printf("%lu\n", accepted);
}

int main(void) {
    char line[1024], *words[8];
    while (fgets(line, sizeof line, stdin) != 0) {
        int count = 0;
        for (char *word = strtok(line, " \n"); word != 0 && count < 8; word = strtok(0, " \n"))
            words[count++] = word;
        if (count == 3 && strcmp(words[0], "fuzz") == 0)
            fuzz(strtoul(words[1], 0, 0), strtoul(words[2], 0, 0));
        else if (count > 0)
            serve(words, count);
        fflush(stdout);
    }
}
