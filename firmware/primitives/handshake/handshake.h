/* Handshakes of three messages that authenticate both sides and give a key. Each primitive
   provides, for its prefix p:

     enum { P_SECRET_BYTES, P_KEY_BYTES };
     crypto_status p_message_1(p_ctx *ctx, const handshake *h, handshake_bytes *out)
     crypto_status p_message_2(p_ctx *ctx, const handshake *h, const handshake_bytes *in,
                               handshake_bytes *out)
     crypto_status p_message_3(p_ctx *ctx, const handshake *h, const handshake_bytes *in,
                               handshake_bytes *out)
     crypto_status p_finish(p_ctx *ctx, const handshake *h, const handshake_bytes *in)
     crypto_status p_message_4(p_ctx *ctx, const handshake *h, handshake_bytes *out)
     crypto_status p_confirm(p_ctx *ctx, const handshake *h, const handshake_bytes *in)
     size_t p_item(uint8_t *out, size_t room, const handshake_item *item)
     void p_error(const p_ctx *ctx, handshake_bytes *out)
     void p_key(const p_ctx *ctx, uint8_t *key)
     void p_update(p_ctx *ctx, const uint8_t *context, size_t length)
     void p_export(const p_ctx *ctx, uint8_t label, const uint8_t *context, size_t length, uint8_t
   *out, size_t out_length)

   The initiator calls 1 and 3, the responder 2 and finish, each side on a context of its own that
   lives until p_key. A fourth message tells the initiator that the responder has the key too: the
   responder writes it after finish, the initiator confirms it after 3. What is malformed, not by
   the peer that was expected, or not authentic is CRYPTO_BAD_TAG; nothing is written then, the
   context is wiped, and p_error writes what the peer is told of it.

   p_export makes secrets for an application of the key, by a label below 24 and a context. p_update
   puts a key that is made of the one at hand and of a context in its place: both sides do it, no
   message is needed, and whoever finds the new key has not the old one.

   An application adds data of its own to messages, and hears what the peer's added: handshake_ad.
   p_item writes an item of it, and returns its length, or 0 where it does not fit. */
#ifndef HANDSHAKE_H
#define HANDSHAKE_H

#include "crypto.h"

typedef struct {
    uint8_t *at;
    size_t length; /* of what is there, or, of an output before, how much fits */
} handshake_bytes;

/* One side, or what the other knows of it: then without secrets. */
typedef struct {
    const uint8_t *ephemeral, *key, *public_key;
    handshake_bytes identity, credential, connection;
} handshake_party;

/* An item of what an application adds. The peer has to understand one that is critical; of padding,
   which hides how long a message is, it hears nothing. */
enum { HANDSHAKE_PADDING = 0 };

typedef struct {
    uint32_t label;
    uint8_t critical;     /* padding never is */
    const uint8_t *value; /* null where there is a label alone */
    size_t length;
} handshake_item;

/* Additions to messages. All zeros say nothing and understand nothing. */
typedef struct {
    handshake_bytes says; /* items, encoded, that go with each message until it is changed */
    /* Whether the application understands an item of a message and can do what it asks; a critical
       one that it does not ends the session. It may change `says` for the answer. What comes with
       message 1 is anybody's; with the others the peer has proved who it is. */
    int (*hears)(void *application, uint8_t message, const handshake_item *item);
    void *application;
} handshake_ad;

typedef struct {
    handshake_party own, peer;
    handshake_ad ad;
} handshake;

#endif
