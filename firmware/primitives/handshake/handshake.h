/* Handshakes of three messages that authenticate both sides and establish a key. Each primitive
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
     void p_export(const p_ctx *ctx, uint8_t label, const uint8_t *context, size_t length,
                   uint8_t *out, size_t out_length)

   The initiator calls message_1 and message_3, the responder message_2 and finish, each with its
   own context, which lives until p_key. An optional fourth message tells the initiator that the
   responder has the key too: the responder writes it after finish, the initiator confirms it after
   message_3. A message that is malformed, not from the expected peer, or not authentic gives
   CRYPTO_BAD_TAG: nothing is written, the context is wiped, and p_error writes the error message
   for the peer.

   p_export derives secrets for an application from the key, a label below 24 and a context.
   p_update replaces the key by one derived from it and a context: both sides do so without a
   message, and the new key does not reveal the old one.

   An application can add data to messages and receives what the peer added: see handshake_ad.
   p_item writes an item of such data and returns its length, or 0 if it does not fit. */
#ifndef HANDSHAKE_H
#define HANDSHAKE_H

#include "crypto.h"

typedef struct {
    uint8_t *at;
    size_t length; /* of the content or, before an output is written, the room for it */
} handshake_bytes;

/* One side or, without secrets, what the other side knows of it. */
typedef struct {
    const uint8_t *ephemeral, *key, *public_key;
    handshake_bytes identity, credential, connection;
} handshake_party;

/* An item added by an application. The peer must understand a critical item. Padding, which hides a
   message's length, is not passed to the application. */
enum { HANDSHAKE_PADDING = 0 };

typedef struct {
    uint32_t label;
    uint8_t critical;     /* never set for padding */
    const uint8_t *value; /* null for a label without a value */
    size_t length;
} handshake_item;

/* Additions to messages. If all fields are zero, nothing is added and nothing is understood. */
typedef struct {
    handshake_bytes says; /* encoded items, sent with each message until changed */
    /* Returns whether the application understands an item of a message and can do what it asks; if
       not, and the item is critical, the session ends. It may change `says` for the answer. With
       message 1, the item may come from anybody; with later messages, the peer has been
       authenticated. */
    int (*hears)(void *application, uint8_t message, const handshake_item *item);
    void *application;
} handshake_ad;

typedef struct {
    handshake_party own, peer;
    handshake_ad ad;
} handshake;

#endif
