/* What EDHOC's methods and suites share: the context, and the messages that say why a session has
   ended (RFC 9528, section 6). */
#ifndef HANDSHAKE_EDHOC_H
#define HANDSHAKE_EDHOC_H

#include "handshake/cbor.h"
#include "handshake/handshake.h"

/* ERR_CODE (table 3 of the RFC). */
typedef enum {
    EDHOC_NO_ERROR = 0,
    EDHOC_UNSPECIFIED = 1,       /* and a text, which is empty here */
    EDHOC_WRONG_SUITE = 2,       /* and the suites of the responder */
    EDHOC_UNKNOWN_CREDENTIAL = 3 /* and `true` */
} edhoc_error;

enum { EDHOC_ERROR_BYTES = 2 };

typedef struct {
    uint8_t th[32], prk[32], key[32];
    uint8_t error; /* an edhoc_error: why the last message was refused */
} edhoc_ctx;

/* The message that says so; `suite` is the one that is there. */
static inline void edhoc_write_error(uint8_t out[EDHOC_ERROR_BYTES], edhoc_error error,
                                     uint8_t suite) {
    enum { EMPTY_TEXT = 0x60, TRUE = 0xf5 };
    out[0] = (uint8_t)error;
    out[1] = error == EDHOC_WRONG_SUITE          ? suite
             : error == EDHOC_UNKNOWN_CREDENTIAL ? TRUE
                                                 : EMPTY_TEXT;
}

/* What a message says; EDHOC_NO_ERROR where it is no error message. Nobody has signed it. */
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

/* The functions of a method and suite, as handshake.h has them. */
#define EDHOC_FUNCTIONS(p)                                                                         \
    typedef edhoc_ctx p##_ctx;                                                                     \
    crypto_status p##_message_1(p##_ctx *ctx, const handshake *h, handshake_bytes *out);           \
    crypto_status p##_message_2(p##_ctx *ctx, const handshake *h, const handshake_bytes *in,       \
                                handshake_bytes *out);                                             \
    crypto_status p##_message_3(p##_ctx *ctx, const handshake *h, const handshake_bytes *in,       \
                                handshake_bytes *out);                                             \
    crypto_status p##_finish(p##_ctx *ctx, const handshake *h, const handshake_bytes *in);         \
    crypto_status p##_message_4(p##_ctx *ctx, handshake_bytes *out);                               \
    crypto_status p##_confirm(p##_ctx *ctx, const handshake_bytes *in);                            \
    void p##_error(const p##_ctx *ctx, handshake_bytes *out);                                      \
    void p##_key(const p##_ctx *ctx, uint8_t *key);                                                \
    void p##_update(p##_ctx *ctx, const uint8_t *context, size_t length);                          \
    void p##_export(const p##_ctx *ctx, uint8_t label, const uint8_t *context, size_t length,      \
                    uint8_t *out, size_t out_length)

#endif
