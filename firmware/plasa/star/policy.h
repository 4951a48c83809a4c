/* The interface of a security policy. Each policy is one file, which defines its functions and
   declares itself with STAR_POLICY. The linker collects the policies of a program; there is no
   list. */
#ifndef POLICY_H
#define POLICY_H

#include <stdbool.h>
#include <stdint.h>

/* Metadata of a packet. The sender must never repeat a pair of `boots` and `count` under a key. */
typedef struct {
    const uint8_t *key; /* KEYDB_KEY_BYTES */
    uint16_t from, to;
    uint8_t control;
    uint16_t boots;
    uint32_t count;
} star_context;

typedef struct {
    uint8_t id;            /* 1 to 7, as in the control field */
    uint8_t overhead;      /* bytes after the payload */
    bool is_authenticated; /* unsecure returns the sender's boots and count, authenticated */
    /* In place; `payload` has room for the overhead. Returns false if boots or count do not fit. */
    bool (*secure)(const star_context *packet, uint8_t *payload, uint8_t length);
    /* The inverse; `length` is that of the payload alone. Returns false if the packet is not
       genuine; STaR then overwrites it. */
    bool (*unsecure)(star_context *packet, uint8_t *payload, uint8_t length);
} star_policy;

#define STAR_POLICY                                                                                \
    __attribute__((used, retain, section("registry_star_policies"))) static const star_policy policy

#endif
