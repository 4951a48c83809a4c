/* Shared by EDHOC's methods and suites: the context, error messages (RFC 9528, section 6), and
   external authorization data (section 3.8). */
#ifndef HANDSHAKE_EDHOC_H
#define HANDSHAKE_EDHOC_H

#include "handshake/cbor.h"
#include "handshake/handshake.h"

/* ERR_CODE (table 3 of the RFC). */
typedef enum {
    EDHOC_NO_ERROR = 0,
    EDHOC_UNSPECIFIED = 1,       /* with a text, which is empty here */
    EDHOC_WRONG_SUITE = 2,       /* with the responder's suites */
    EDHOC_UNKNOWN_CREDENTIAL = 3 /* with `true` */
} edhoc_error;

enum { EDHOC_ERROR_BYTES = 2 };

/* The longest plaintext of messages 2 to 4, and the room that each of those asks for. */
#ifndef EDHOC_PLAINTEXT_BYTES
#define EDHOC_PLAINTEXT_BYTES 160
#endif

/* Bytes of the suite's hash. */
#ifndef EDHOC_HASH_BYTES
#define EDHOC_HASH_BYTES 32
#endif

enum { EDHOC_CONNECTION_BYTES = 7 };

typedef struct {
    uint8_t th[EDHOC_HASH_BYTES], prk[EDHOC_HASH_BYTES], key[EDHOC_HASH_BYTES];
    uint8_t error; /* an edhoc_error: why the last message was refused */
    /* The peer's connection identifier, as the byte string that an application has of it (section
       3.3.3); a length above EDHOC_CONNECTION_BYTES if it is longer, and is not kept. */
    uint8_t connection_length, connection[EDHOC_CONNECTION_BYTES];
} edhoc_ctx;

/* Writes an error message; `suite` is the one supported. */
static inline void edhoc_write_error(uint8_t out[EDHOC_ERROR_BYTES], edhoc_error error,
                                     uint8_t suite) {
    enum { EMPTY_TEXT = 0x60, TRUE = 0xf5 };
    out[0] = (uint8_t)error;
    out[1] = error == EDHOC_WRONG_SUITE          ? suite
             : error == EDHOC_UNKNOWN_CREDENTIAL ? TRUE
                                                 : EMPTY_TEXT;
}

/* Returns the error in a message; EDHOC_NO_ERROR if it is not an error message. Error messages are
   not authenticated. */
static inline edhoc_error edhoc_read_error(const uint8_t *at, size_t length) {
    if (length < 2)
        return EDHOC_NO_ERROR;
    if (at[0] == EDHOC_UNSPECIFIED)
        return cbor_is_text(at + 1, length - 1) ? EDHOC_UNSPECIFIED : EDHOC_NO_ERROR;
    if (at[0] == EDHOC_WRONG_SUITE)
        return cbor_suites(at + 1, length - 1) == length - 1 ? EDHOC_WRONG_SUITE : EDHOC_NO_ERROR;
    return at[0] == EDHOC_UNKNOWN_CREDENTIAL && length == 2 && at[1] == 0xf5
               ? EDHOC_UNKNOWN_CREDENTIAL
               : EDHOC_NO_ERROR;
}

/* Writes an item of external authorization data; returns its length, or 0 if it does not fit. */
static inline size_t edhoc_write_item(uint8_t *out, size_t room, const handshake_item *item) {
    uint8_t label[CBOR_HEAD_MOST], value[CBOR_HEAD_MOST];
    /* A critical label is the negative of the registered one. */
    uint8_t type = item->critical ? CBOR_NEGATIVE : CBOR_UINT;
    size_t label_length = cbor_head(label, type, item->label - (item->critical ? 1u : 0u));
    size_t head = item->value ? cbor_head(value, CBOR_BYTES, item->length) : 0;
    size_t length = item->value ? item->length : 0;
    if (room < label_length + head || room - label_length - head < length)
        return 0;
    for (size_t i = 0; i < label_length; i++)
        *out++ = label[i];
    for (size_t i = 0; i < head; i++)
        *out++ = value[i];
    for (size_t i = 0; i < length; i++)
        *out++ = item->value[i];
    return label_length + head + length;
}

/* Reads the next item; returns 0 if there is none. */
static inline int edhoc_read_item(cbor_reader *in, handshake_item *item) {
    size_t number;
    *item = (handshake_item){0};
    if (in->left > 0 && in->at[0] >> 5 == CBOR_NEGATIVE >> 5)
        item->critical = 1;
    if (!cbor_read_number(in, item->critical ? CBOR_NEGATIVE : CBOR_UINT, &number))
        return 0;
    item->label = (uint32_t)number + item->critical;
    if (in->left == 0 || in->at[0] >> 5 != CBOR_BYTES >> 5)
        return 1;
    return cbor_read_bytes(in, &item->value, &item->length);
}

/* Declares the functions of a method and suite, as in handshake.h. */
#define EDHOC_FUNCTIONS(p)                                                                         \
    typedef edhoc_ctx p##_ctx;                                                                     \
    crypto_status p##_message_1(p##_ctx *ctx, const handshake *h, handshake_bytes *out);           \
    crypto_status p##_message_2(p##_ctx *ctx, const handshake *h, const handshake_bytes *in,       \
                                handshake_bytes *out);                                             \
    crypto_status p##_message_3(p##_ctx *ctx, const handshake *h, const handshake_bytes *in,       \
                                handshake_bytes *out);                                             \
    crypto_status p##_finish(p##_ctx *ctx, const handshake *h, const handshake_bytes *in);         \
    crypto_status p##_message_4(p##_ctx *ctx, const handshake *h, handshake_bytes *out);           \
    crypto_status p##_confirm(p##_ctx *ctx, const handshake *h, const handshake_bytes *in);        \
    size_t p##_item(uint8_t *out, size_t room, const handshake_item *item);                        \
    void p##_error(const p##_ctx *ctx, handshake_bytes *out);                                      \
    void p##_key(const p##_ctx *ctx, uint8_t *key);                                                \
    void p##_update(p##_ctx *ctx, const uint8_t *context, size_t length);                          \
    void p##_export(const p##_ctx *ctx, uint8_t label, const uint8_t *context, size_t length,      \
                    uint8_t *out, size_t out_length)

#endif
