#include "oscore.h"

#include "ccm.h"
#include "handshake/cbor.h"
#include "mac/hmac-sha-256.h"

/* The option's first byte (section 6.1). */
enum { PIV_LENGTH = 7, HAS_KID = 8, HAS_CONTEXT = 16, RESERVED_BITS = 0xe0 };

enum {
    HASH = 32,
    AES_CCM_16_64_128 = 10, /* COSE's number of the algorithm */
    OPTION_MOST = 1 + OSCORE_PIV_BYTES_MAX + 1 + OSCORE_ID_CONTEXT_BYTES_MAX + OSCORE_ID_BYTES_MAX,
#if OSCORE_GROUP
    GROUP_MOST = 5 + 1 + OSCORE_ID_CONTEXT_BYTES_MAX + 1 + OPTION_MOST +
                 2 * (2 + OSCORE_CREDENTIAL_BYTES_MAX),
#else
    GROUP_MOST = 0,
#endif
    EXTERNAL_MOST = 4 + 1 + OSCORE_ID_BYTES_MAX + 1 + OSCORE_PIV_BYTES_MAX + 1 + GROUP_MOST,
    INFO_MOST = 1 + 2 * (1 + OSCORE_ID_CONTEXT_BYTES_MAX) + 1 + 4 + 1,
    AAD_MOST = 11 + CBOR_HEAD_MOST + EXTERNAL_MOST
};

/* A group's identifier may be empty, and is there all the same (RFC 10021, section 3.2). */
#define HAS_ID_CONTEXT(id) (OSCORE_GROUP || (id)->length > 0)

/* An OSCORE option's value. */
typedef struct {
    const uint8_t *at;
    size_t length;
} option_bytes;

static void copy(uint8_t *out, const uint8_t *in, size_t length) {
    for (size_t i = 0; i < length; i++)
        out[i] = in[i];
}

static bool same(const uint8_t *a, size_t a_length, const oscore_id *b) {
    if (a_length != b->length)
        return false;
    for (size_t i = 0; i < a_length; i++)
        if (a[i] != b->bytes[i])
            return false;
    return true;
}

/* ---- Keys (section 3.2.1) ---- */

static size_t write_bytes(uint8_t *out, const uint8_t *bytes, size_t length) {
    size_t n = cbor_head(out, CBOR_BYTES, length);
    copy(out + n, bytes, length);
    return n + length;
}

/* HKDF-Expand (RFC 5869) of up to 32 bytes, which is one block, with the info of section 3.2.1. */
static void expand(uint8_t *out, size_t length, const uint8_t prk[HASH], const oscore_ctx *ctx,
                   const oscore_id *id, const char *type) {
    enum { ARRAY_5 = 0x85, NIL = 0xf6, ONE = 1 };
    uint8_t info[INFO_MOST], block[HASH], n = 0, one = ONE;
    uint8_t type_length = type[0] == 'K' ? 3 : 2;
    sha256_ctx hash;
    info[n++] = ARRAY_5;
    n = (uint8_t)(n + write_bytes(info + n, id->bytes, id->length));
    if (HAS_ID_CONTEXT(&ctx->id_context))
        n = (uint8_t)(n + write_bytes(info + n, ctx->id_context.bytes, ctx->id_context.length));
    else
        info[n++] = NIL;
    info[n++] = AES_CCM_16_64_128;
    info[n++] = CBOR_TEXT | type_length;
    copy(info + n, (const uint8_t *)type, type_length);
    n = (uint8_t)(n + type_length);
    info[n++] = (uint8_t)length;
    hmac_sha256_begin(&hash, prk);
    sha256_update(&hash, info, n);
    sha256_update(&hash, &one, 1);
    hmac_sha256_end(&hash, prk, block);
    copy(out, block, length);
    crypto_wipe(block, sizeof block);
}

void oscore_init(oscore_ctx *ctx, const uint8_t secret[OSCORE_KEY_BYTES], const uint8_t *salt,
                 size_t salt_length, const oscore_id *sender, const oscore_id *recipient,
                 const oscore_id *id_context) {
    static const oscore_id none;
    /* HMAC pads a short key with zeros, so a salt of 32 bytes with zeros at its end is the same. */
    uint8_t prk[HASH] = {0};
    sha256_ctx hash;
    *ctx = (oscore_ctx){.sender = *sender, .recipient = *recipient};
    if (id_context)
        ctx->id_context = *id_context;
    copy(prk, salt, salt_length);
    hmac_sha256_begin(&hash, prk);
    sha256_update(&hash, secret, OSCORE_KEY_BYTES);
    hmac_sha256_end(&hash, prk, prk);
    expand(ctx->sender_key, OSCORE_KEY_BYTES, prk, ctx, sender, "Key");
    expand(ctx->recipient_key, OSCORE_KEY_BYTES, prk, ctx, recipient, "Key");
    expand(ctx->common_iv, OSCORE_NONCE_BYTES, prk, ctx, &none, "IV");
    crypto_wipe(prk, sizeof prk);
}

#if OSCORE_GROUP
/* HKDF with the member's key as its salt, over its credential, the other's, and the secret. */
static void pair(const oscore_ctx *ctx, uint8_t key[OSCORE_KEY_BYTES], const oscore_id *id,
                 const oscore_credential *from, const oscore_credential *to, const uint8_t *shared,
                 size_t shared_length) {
    uint8_t prk[HASH] = {0};
    sha256_ctx hash;
    copy(prk, key, OSCORE_KEY_BYTES);
    hmac_sha256_begin(&hash, prk);
    sha256_update(&hash, from->at, from->length);
    sha256_update(&hash, to->at, to->length);
    sha256_update(&hash, shared, shared_length);
    hmac_sha256_end(&hash, prk, prk);
    expand(key, OSCORE_KEY_BYTES, prk, ctx, id, "Key");
    crypto_wipe(prk, sizeof prk);
}

void oscore_init_pairwise(oscore_ctx *ctx, const oscore_credential *own,
                          const oscore_credential *peer, const oscore_credential *manager,
                          const uint8_t *shared, size_t shared_length) {
    pair(ctx, ctx->sender_key, &ctx->sender, own, peer, shared, shared_length);
    pair(ctx, ctx->recipient_key, &ctx->recipient, peer, own, shared, shared_length);
    ctx->own = *own;
    ctx->peer = *peer;
    ctx->manager = *manager;
}
#endif

void oscore_resume(oscore_ctx *ctx, uint32_t reserved, bool (*reserve)(uint32_t end)) {
    ctx->sequence = reserved;
    ctx->reserved = reserved;
    ctx->reserve = reserve;
    ctx->is_window_lost = true;
    ctx->echo = UINT32_MAX;
    ctx->next = 0;
    ctx->seen = 0;
}

/* ---- Sequence numbers ---- */

/* Takes the next number, as a partial IV without leading zeros (section 6.1). */
static oscore_status take_number(oscore_ctx *ctx, oscore_request *request) {
    uint32_t number = ctx->sequence;
    if (number >= UINT32_MAX - OSCORE_RESERVE)
        return OSCORE_EXHAUSTED;
    if (ctx->reserve && number >= ctx->reserved) {
        if (!ctx->reserve(number + OSCORE_RESERVE))
            return OSCORE_EXHAUSTED;
        ctx->reserved = number + OSCORE_RESERVE;
    }
    ctx->sequence = number + 1;
    uint8_t n = 1;
    for (uint32_t rest = number >> 8; rest > 0; rest >>= 8)
        n++;
    request->piv_length = n;
    for (; n > 0; number >>= 8)
        request->piv[--n] = (uint8_t)number;
    return OSCORE_OK;
}

/* Returns a partial IV's number; false if it has leading zeros or is beyond this window's numbers.
   One number has one form only, so that a nonce cannot come in two. */
static bool number_of(const oscore_request *request, uint32_t *number) {
    if (request->piv_length == 0 || request->piv_length > 4 ||
        (request->piv_length > 1 && request->piv[0] == 0))
        return false;
    *number = 0;
    for (uint8_t i = 0; i < request->piv_length; i++)
        *number = *number << 8 | request->piv[i];
    return *number < UINT32_MAX;
}

static bool is_replayed(const oscore_ctx *ctx, uint32_t number) {
    if (number >= ctx->next)
        return false;
    uint32_t back = ctx->next - 1 - number;
    return back >= OSCORE_WINDOW || (ctx->seen >> back & 1) != 0;
}

/* Only after the message has been verified (section 7.4). */
static void remember(oscore_ctx *ctx, uint32_t number) {
    if (number < ctx->next) {
        ctx->seen |= (uint32_t)1 << (ctx->next - 1 - number);
        return;
    }
    uint32_t ahead = number + 1 - ctx->next;
    ctx->seen = ahead < OSCORE_WINDOW ? ctx->seen << ahead | 1 : 1;
    ctx->next = number + 1;
}

/* ---- Encryption ---- */

#if OSCORE_GROUP
/* Of a CBOR string of up to 255 bytes. */
static size_t string_length(size_t length) {
    return length + (length < 24 ? 1 : 2);
}
#endif

/* Encrypts or decrypts in place, with the tag at its end. The nonce is that of the number sent by
   `id` (section 5.2); the associated data names the request (section 5.4). */
static crypto_status crypt(const uint8_t *key, const oscore_ctx *ctx, const oscore_id *id,
                           const oscore_request *piv, const oscore_id *request_id,
                           const oscore_request *request, const option_bytes *option, uint8_t *text,
                           size_t length, bool decrypt) {
    static const uint8_t head[] = {0x83, 0x68, 'E', 'n', 'c', 'r', 'y', 'p', 't', '0', 0x40};
#if OSCORE_GROUP
    /* No group mode: neither its encryption nor signatures; ECDH-SS + HKDF-256 is -27. */
    static const uint8_t external_head[] = {0x89, 1, 0x84, AES_CCM_16_64_128, 0xf6, 0xf6, 0x38, 26};
#else
    static const uint8_t external_head[] = {0x85, 1, 0x81, AES_CCM_16_64_128};
    (void)option;
#endif
    uint8_t nonce[OSCORE_NONCE_BYTES] = {0}, aad[AAD_MOST];
    size_t n = sizeof head;
    size_t external = sizeof external_head + 1 + request_id->length + 1 + request->piv_length + 1;
#if OSCORE_GROUP
    const oscore_credential *sender = decrypt ? &ctx->peer : &ctx->own;
    external += string_length(ctx->id_context.length) + string_length(option->length) +
                string_length(sender->length) + string_length(ctx->manager.length);
#endif
    nonce[0] = id->length;
    copy(nonce + 1 + OSCORE_ID_BYTES_MAX - id->length, id->bytes, id->length);
    copy(nonce + OSCORE_NONCE_BYTES - piv->piv_length, piv->piv, piv->piv_length);
    crypto_xor(nonce, nonce, ctx->common_iv, sizeof nonce);
    copy(aad, head, sizeof head);
    n += cbor_head(aad + n, CBOR_BYTES, external);
    copy(aad + n, external_head, sizeof external_head);
    n += sizeof external_head;
    n += write_bytes(aad + n, request_id->bytes, request_id->length);
    n += write_bytes(aad + n, request->piv, request->piv_length);
    aad[n++] = CBOR_BYTES; /* no options of class I are defined */
#if OSCORE_GROUP
    /* RFC 10021, section 3.4 */
    n += write_bytes(aad + n, ctx->id_context.bytes, ctx->id_context.length);
    n += write_bytes(aad + n, option->at, option->length);
    n += write_bytes(aad + n, sender->at, sender->length);
    n += write_bytes(aad + n, ctx->manager.at, ctx->manager.length);
#endif
    ccm_ctx cipher;
    ccm_init(&cipher, key);
    aead_message m = {nonce,         sizeof nonce,    aad, n, text, text, length,
                      text + length, OSCORE_TAG_BYTES};
    crypto_status status = decrypt ? ccm_decrypt(&cipher, &m) : ccm_encrypt(&cipher, &m);
    crypto_wipe(&cipher, sizeof cipher);
    return status;
}

/* ---- Messages ---- */

/* Whether an option is of class U alone (section 4.1, figure 5; RFC 9668, section 3.1). */
static bool is_outer(uint16_t number) {
    return number == COAP_URI_HOST || number == COAP_URI_PORT || number == COAP_PROXY_SCHEME ||
           number == COAP_EDHOC;
}

/* Writes the option's value (section 6.1); returns its length. */
static size_t write_option(uint8_t *out, const oscore_request *piv, const oscore_id *kid,
                           const oscore_id *id_context) {
    size_t n = 1;
    uint8_t flags = 0;
    if (piv) {
        flags = piv->piv_length;
        copy(out + n, piv->piv, piv->piv_length);
        n += piv->piv_length;
    }
    if (kid && HAS_ID_CONTEXT(id_context)) {
        flags |= HAS_CONTEXT;
        out[n++] = id_context->length;
        copy(out + n, id_context->bytes, id_context->length);
        n += id_context->length;
    }
    if (kid) {
        flags |= HAS_KID;
        copy(out + n, kid->bytes, kid->length);
        n += kid->length;
    }
    out[0] = flags;
    return flags == 0 ? 0 : n;
}

typedef struct {
    option_bytes whole;
    oscore_request piv;
    bool has_kid, has_context;
    const uint8_t *kid, *id_context;
    size_t kid_length, id_context_length;
} option_value;

static bool read_option(const coap_option *option, option_value *value) {
    const uint8_t *at = option->value;
    size_t left = option->length;
    *value = (option_value){.whole = {at, left}};
    if (left == 0)
        return true;
    uint8_t flags = *at++;
    left--;
    uint8_t piv = flags & PIV_LENGTH;
    /* An option of flags alone must be empty, and 6 and 7 are reserved. */
    if ((flags & RESERVED_BITS) || flags == 0 || piv > OSCORE_PIV_BYTES_MAX || left < piv)
        return false;
    value->piv.piv_length = piv;
    copy(value->piv.piv, at, piv);
    at += piv;
    left -= piv;
    if (flags & HAS_CONTEXT) {
        if (left == 0 || left - 1 < at[0])
            return false;
        value->has_context = true;
        value->id_context_length = at[0];
        value->id_context = at + 1;
        left -= 1u + at[0];
        at += 1 + at[0];
    }
    if (flags & HAS_KID) {
        value->has_kid = true;
        value->kid = at;
        value->kid_length = left;
        left = 0;
    }
    return left == 0;
}

/* A message's header, and a reader of what follows. */
static bool begin(const uint8_t *in, size_t length, coap_head *head, coap_reader *rest) {
    size_t n = coap_read_head(in, length, head);
    *rest = (coap_reader){in + n, length - n, 0};
    return n > 0;
}

/* Protects a message whose option has the given value. */
static oscore_status protect(const oscore_ctx *ctx, const uint8_t *in, size_t length, uint8_t *out,
                             size_t *out_length, uint8_t outer_code, const uint8_t *value,
                             size_t value_length, const oscore_request *piv, const oscore_id *id,
                             const oscore_id *request_id, const oscore_request *request) {
    coap_head head;
    coap_reader options, all;
    coap_option option;
    coap_next next;
    coap_writer to = {.at = out, .room = *out_length};
    if (!begin(in, length, &head, &all))
        return OSCORE_MALFORMED;
    uint8_t code = head.code;
    head.code = outer_code;
    coap_write_head(&to, &head);
    bool is_written = false;
    options = all;
    while ((next = coap_read(&options, &option)) == COAP_OPTION) {
        /* A Proxy-Uri would have to be taken apart (section 4.1.3.3). */
        if (option.number == COAP_OSCORE || option.number == COAP_PROXY_URI)
            return OSCORE_MALFORMED;
        if (!is_outer(option.number))
            continue;
        if (option.number > COAP_OSCORE && !is_written) {
            coap_write(&to, COAP_OSCORE, value, value_length);
            is_written = true;
        }
        coap_write(&to, option.number, option.value, option.length);
    }
    if (next == COAP_MALFORMED)
        return OSCORE_MALFORMED;
    if (!is_written)
        coap_write(&to, COAP_OSCORE, value, value_length);
    coap_write_payload(&to, &code, 1);
    uint8_t *text = to.at - 1;
    coap_writer inner = {.at = to.at, .room = to.room, .overflow = to.overflow};
    for (options = all; coap_read(&options, &option) == COAP_OPTION;)
        if (!is_outer(option.number))
            coap_write(&inner, option.number, option.value, option.length);
    coap_write_payload(&inner, options.at, options.left);
    if (inner.overflow || inner.room < OSCORE_TAG_BYTES)
        return OSCORE_NO_ROOM;
    size_t text_length = (size_t)(inner.at - text);
    crypt(ctx->sender_key, ctx, id, piv, request_id, request, &(option_bytes){value, value_length},
          text, text_length, false);
    *out_length = (size_t)(text - out) + text_length + OSCORE_TAG_BYTES;
    return OSCORE_OK;
}

/* Finds the option and the ciphertext. */
static oscore_status find(const uint8_t *in, size_t length, coap_head *head, coap_reader *options,
                          option_value *value, uint8_t **text, size_t *text_length) {
    coap_option option;
    coap_next next;
    unsigned found = 0;
    if (!begin(in, length, head, options))
        return OSCORE_MALFORMED;
    coap_reader reader = *options;
    while ((next = coap_read(&reader, &option)) == COAP_OPTION) {
        if (option.number != COAP_OSCORE)
            continue;
        found++;
        if (!read_option(&option, value))
            return OSCORE_MALFORMED;
    }
    if (next == COAP_MALFORMED || found > 1)
        return OSCORE_MALFORMED;
    if (found == 0)
        return OSCORE_UNKNOWN;
    if (reader.left <= OSCORE_TAG_BYTES) /* a code at least */
        return OSCORE_MALFORMED;
    *text = (uint8_t *)(in + (reader.at - in));
    *text_length = reader.left - OSCORE_TAG_BYTES;
    return OSCORE_OK;
}

/* Writes the message that was protected: outer options of class U and inner ones, in order; outer
   ones of another class are dropped (section 8.2). */
static oscore_status unfold(coap_head head, coap_reader outer, const uint8_t *text, size_t length,
                            uint8_t *out, size_t *out_length) {
    coap_writer to = {.at = out, .room = *out_length};
    coap_reader inner = {text + 1, length - 1, 0};
    coap_option from_outer, from_inner;
    head.code = text[0];
    coap_write_head(&to, &head);
    coap_next is_inner = coap_read(&inner, &from_inner), is_outer_one;
    do
        is_outer_one = coap_read(&outer, &from_outer);
    while (is_outer_one == COAP_OPTION && !is_outer(from_outer.number));
    while (is_inner == COAP_OPTION || is_outer_one == COAP_OPTION) {
        if (is_outer_one == COAP_OPTION &&
            (is_inner != COAP_OPTION || from_outer.number <= from_inner.number)) {
            coap_write(&to, from_outer.number, from_outer.value, from_outer.length);
            do
                is_outer_one = coap_read(&outer, &from_outer);
            while (is_outer_one == COAP_OPTION && !is_outer(from_outer.number));
        } else {
            if (from_inner.number == COAP_OSCORE || is_outer(from_inner.number))
                return OSCORE_MALFORMED;
            coap_write(&to, from_inner.number, from_inner.value, from_inner.length);
            is_inner = coap_read(&inner, &from_inner);
        }
    }
    if (is_inner == COAP_MALFORMED || text[0] == COAP_EMPTY)
        return OSCORE_MALFORMED;
    coap_write_payload(&to, inner.at, inner.left);
    if (to.overflow)
        return OSCORE_NO_ROOM;
    *out_length = (size_t)(to.at - out);
    return OSCORE_OK;
}

oscore_status oscore_protect_request(oscore_ctx *ctx, const uint8_t *in, size_t length,
                                     uint8_t *out, size_t *out_length, oscore_request *request) {
    uint8_t value[OPTION_MOST];
    oscore_status status = take_number(ctx, request);
    if (status != OSCORE_OK)
        return status;
    size_t n = write_option(value, request, &ctx->sender, &ctx->id_context);
    return protect(ctx, in, length, out, out_length, COAP_POST, value, n, request, &ctx->sender,
                   &ctx->sender, request);
}

oscore_status oscore_protect_response(oscore_ctx *ctx, const uint8_t *in, size_t length,
                                      uint8_t *out, size_t *out_length,
                                      const oscore_request *request, bool is_fresh) {
    uint8_t value[OPTION_MOST];
    oscore_request own;
    if (!is_fresh)
        return protect(ctx, in, length, out, out_length, COAP_CHANGED, value, 0, request,
                       &ctx->recipient, &ctx->recipient, request);
    oscore_status status = take_number(ctx, &own);
    if (status != OSCORE_OK)
        return status;
    size_t n = write_option(value, &own, NULL, NULL);
    return protect(ctx, in, length, out, out_length, COAP_CHANGED, value, n, &own, &ctx->sender,
                   &ctx->recipient, request);
}

/* Returns whether a message carries the Echo option's expected value. */
static bool has_echo(const oscore_ctx *ctx, const uint8_t *message, size_t length) {
    coap_head head;
    coap_reader options;
    coap_option option;
    if (ctx->echo == UINT32_MAX || !begin(message, length, &head, &options))
        return false;
    while (coap_read(&options, &option) == COAP_OPTION) {
        uint32_t value = 0;
        if (option.number != COAP_ECHO || option.length != OSCORE_ECHO_BYTES)
            continue;
        for (size_t i = 0; i < OSCORE_ECHO_BYTES; i++)
            value = value << 8 | option.value[i];
        return value == ctx->echo;
    }
    return false;
}

oscore_status oscore_open_request(oscore_ctx *ctx, uint8_t *in, size_t length, uint8_t *out,
                                  size_t *out_length, oscore_request *request) {
    coap_head head;
    coap_reader options;
    option_value value;
    uint8_t *text;
    size_t text_length;
    uint32_t number;
    oscore_status status = find(in, length, &head, &options, &value, &text, &text_length);
    if (status != OSCORE_OK)
        return status;
    if (!value.has_kid || !number_of(&value.piv, &number))
        return OSCORE_MALFORMED;
    if (!same(value.kid, value.kid_length, &ctx->recipient) ||
        (value.has_context ? !same(value.id_context, value.id_context_length, &ctx->id_context)
                           : OSCORE_GROUP))
        return OSCORE_UNKNOWN;
    if (is_replayed(ctx, number))
        return OSCORE_REPLAYED;
    if (crypt(ctx->recipient_key, ctx, &ctx->recipient, &value.piv, &ctx->recipient, &value.piv,
              &value.whole, text, text_length, true) != CRYPTO_OK)
        return OSCORE_FORGED;
    *request = value.piv;
    status = unfold(head, options, text, text_length, out, out_length);
    if (ctx->is_window_lost) {
        if (status != OSCORE_OK || !has_echo(ctx, out, *out_length)) {
            /* The number of the first such answer: never used before, so who returns it has it
               from an answer since the reboot. */
            if (ctx->echo == UINT32_MAX)
                ctx->echo = ctx->sequence;
            return status == OSCORE_OK ? OSCORE_STALE : status;
        }
        ctx->is_window_lost = false;
        ctx->seen = UINT32_MAX; /* all numbers before this one count as received */
        ctx->next = number;
    }
    remember(ctx, number);
    return status;
}

oscore_status oscore_open_response(oscore_ctx *ctx, uint8_t *in, size_t length, uint8_t *out,
                                   size_t *out_length, const oscore_request *request) {
    coap_head head;
    coap_reader options;
    option_value value;
    uint8_t *text;
    size_t text_length;
    uint32_t number;
    oscore_status status = find(in, length, &head, &options, &value, &text, &text_length);
    if (status != OSCORE_OK)
        return status;
    bool is_fresh = value.piv.piv_length > 0;
    if (is_fresh && !number_of(&value.piv, &number))
        return OSCORE_MALFORMED;
    if (value.has_kid && !same(value.kid, value.kid_length, &ctx->recipient))
        return OSCORE_UNKNOWN;
    if (crypt(ctx->recipient_key, ctx, is_fresh ? &ctx->recipient : &ctx->sender,
              is_fresh ? &value.piv : request, &ctx->sender, request, &value.whole, text,
              text_length, true) != CRYPTO_OK)
        return OSCORE_FORGED;
    return unfold(head, options, text, text_length, out, out_length);
}
