/* What a security policy is. A policy is one file: it defines its functions, and says STAR_POLICY
   of what it is. The linker gathers the policies of a program; nobody lists them. */
#ifndef POLICY_H
#define POLICY_H

#include <stdbool.h>
#include <stdint.h>

/* What is said of a packet. Who sends sees to it that `boots` and `count` are never twice the same
   under a key. */
typedef struct {
    const uint8_t *key; /* KEYDB_KEY_BYTES */
    uint16_t from, to;
    uint8_t control;
    uint16_t boots;
    uint32_t count;
} star_context;

typedef struct {
    uint8_t id;            /* 1 to 7, as in the control field */
    uint8_t overhead;      /* bytes that follow the payload */
    bool is_authenticated; /* unsecure tells boots and count of the sender, and they are genuine */
    /* In place; `payload` has room for the overhead. False: boots or count do not fit. */
    bool (*secure)(const star_context *packet, uint8_t *payload, uint8_t length);
    /* The same back; `length` is the payload's own. False: it is not genuine; STaR
       overwrites it then. */
    bool (*unsecure)(star_context *packet, uint8_t *payload, uint8_t length);
} star_policy;

#define STAR_POLICY                                                                                \
    __attribute__((used, retain, section("registry_star_policies"))) static const star_policy policy

#endif
