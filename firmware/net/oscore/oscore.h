/* OSCORE (RFC 8613) with AES-CCM-16-64-128 and HKDF-SHA-256, without Observe. A plain CoAP message
   becomes a protected one and back; options of class U stay visible. Sequence numbers have 32 bits:
   a context ends earlier than the RFC's 40 bits allow.

   With OSCORE_GROUP, a context is the pairwise mode of Group OSCORE (RFC 10021) with one other
   member of a group in which nothing else is used. */
#ifndef OSCORE_H
#define OSCORE_H

#include "coap.h"

enum {
    OSCORE_KEY_BYTES = 16,
    OSCORE_NONCE_BYTES = 13,
    OSCORE_TAG_BYTES = 8,
    OSCORE_SALT_BYTES_MAX = 32,
    OSCORE_ID_BYTES_MAX = 7, /* nonce - 6 (section 5) */
    OSCORE_ID_CONTEXT_BYTES_MAX = 8,
    OSCORE_PIV_BYTES_MAX = 5,
    OSCORE_ECHO_BYTES = 4,
    OSCORE_WINDOW = 32, /* section 3.2.2 */
    /* Longest option, marker, code and tag: how much longer a protected message is at most. */
    OSCORE_MORE_BYTES_MAX = 3 + 1 + OSCORE_PIV_BYTES_MAX + 1 + OSCORE_ID_CONTEXT_BYTES_MAX +
                            OSCORE_ID_BYTES_MAX + 2 + OSCORE_TAG_BYTES
};

typedef struct {
    uint8_t length;
    uint8_t bytes[OSCORE_ID_CONTEXT_BYTES_MAX];
} oscore_id;

#if OSCORE_GROUP
/* An authentication credential, as the group has it (RFC 10021, section 2.4). */
typedef struct {
    const uint8_t *at;
    uint8_t length; /* up to OSCORE_CREDENTIAL_BYTES_MAX */
} oscore_credential;
#endif

typedef enum {
    OSCORE_OK = 0,
    OSCORE_MALFORMED, /* answer 4.02 to a request (section 8.2) */
    OSCORE_UNKNOWN,   /* another context's or none: 4.01 */
    OSCORE_REPLAYED,  /* 4.01 */
    OSCORE_FORGED,    /* 4.00 */
    OSCORE_STALE,     /* authentic; whether it is fresh is unknown: 4.01 with Echo, protected */
    OSCORE_NO_ROOM,
    OSCORE_EXHAUSTED /* no sequence number is left, or none could be reserved */
} oscore_status;

typedef struct {
    uint8_t sender_key[OSCORE_KEY_BYTES], recipient_key[OSCORE_KEY_BYTES];
    uint8_t common_iv[OSCORE_NONCE_BYTES];
    oscore_id sender, recipient, id_context;
    /* What is sent next, and below what `reserve` has promised to begin after a reboot. */
    uint32_t sequence, reserved;
    /* The replay window: the number after the highest received, and a bit for each before it. */
    uint32_t next, seen;
    /* After a reboot the window is lost: a client must first return the Echo option's value. */
    bool is_window_lost;
    uint32_t echo;
    /* Keeps the end of the numbers that may be used in memory that outlives power (appendix
       B.1.1); returns false if it failed. Null: the context does not outlive power either. */
    bool (*reserve)(uint32_t end);
#if OSCORE_GROUP
    oscore_credential own, peer, manager; /* they stay where they are */
#endif
} oscore_ctx;

/* How many sequence numbers are reserved at a time. */
enum { OSCORE_RESERVE = 64 };

/* Derives a context (section 3.2). The salt has up to OSCORE_SALT_BYTES_MAX bytes; `id_context` is
   null if there is none. */
void oscore_init(oscore_ctx *ctx, const uint8_t secret[OSCORE_KEY_BYTES], const uint8_t *salt,
                 size_t salt_length, const oscore_id *sender, const oscore_id *recipient,
                 const oscore_id *id_context);

#if OSCORE_GROUP
/* Makes a context of the group's, which oscore_init has derived, the pairwise one with the peer
   (RFC 10021, section 2.5.1). `shared` is the static-static Diffie-Hellman secret of both. */
void oscore_init_pairwise(oscore_ctx *ctx, const oscore_credential *own,
                          const oscore_credential *peer, const oscore_credential *manager,
                          const uint8_t *shared, size_t shared_length);
#endif

/* Continues a context that outlives power (appendix B.1): from the end of the numbers that were
   reserved, 0 at first, with a lost replay window, as nothing tells the first boot from others. */
void oscore_resume(oscore_ctx *ctx, uint32_t reserved, bool (*reserve)(uint32_t end));

/* What binds a response to its request. */
typedef struct {
    uint8_t piv_length;
    uint8_t piv[OSCORE_PIV_BYTES_MAX];
} oscore_request;

/* Each takes a whole message and writes a whole message; `out_length` is the room before and the
   length after. `in` of oscore_open_* is changed: it is decrypted in place. */
oscore_status oscore_protect_request(oscore_ctx *ctx, const uint8_t *in, size_t length,
                                     uint8_t *out, size_t *out_length, oscore_request *request);
oscore_status oscore_open_request(oscore_ctx *ctx, uint8_t *in, size_t length, uint8_t *out,
                                  size_t *out_length, oscore_request *request);

/* `is_fresh`: with a sequence number of its own, instead of the request's nonce. */
oscore_status oscore_protect_response(oscore_ctx *ctx, const uint8_t *in, size_t length,
                                      uint8_t *out, size_t *out_length,
                                      const oscore_request *request, bool is_fresh);
oscore_status oscore_open_response(oscore_ctx *ctx, uint8_t *in, size_t length, uint8_t *out,
                                   size_t *out_length, const oscore_request *request);

#endif
