/* The client's messages. */
#include "internal.h"
#include "suite.h"

#if DTLS13_CLIENT

/* The random of a HelloRetryRequest (RFC 8446, section 4.1.3): SHA-256 of that name. */
static const uint8_t RETRY[32] = {0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c,
                                  0x02, 0x1e, 0x65, 0xb8, 0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb,
                                  0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c};

/* Where the length of the extensions stands in the first flight. */
enum { EXTENSIONS_AT = 4 + 2 + 32 + 1 + 1 + 4 + 2 };

/* Bytes of the extension pre_shared_key, the last one. */
static size_t psk_bytes(const dtls13 *tls) {
#if DTLS13_HAS_PSK
    return 4 + 2 + 2 + tls->config->identity.length + 4 + 2 + 1 + HASH;
#else
    (void)tls;
    return 0;
#endif
}

/* Ends the ClientHello that is in the flight up to `at`. */
OUT_OF_LINE static void hello_end(dtls13 *tls, uint8_t *at) {
    uint8_t *body = tls->flight + 4, *end = at + psk_bytes(tls);
    write_number(tls->flight + 1, (uint32_t)(end - body), 3);
    write_number(tls->flight + EXTENSIONS_AT, (uint32_t)(end - tls->flight - EXTENSIONS_AT - 2), 2);
#if DTLS13_HAS_PSK
    uint8_t transcript[HASH];
    sha256_ctx truncated = tls->transcript;
    const dtls13_bytes *identity = &tls->config->identity;
    at = write_extension(at, PRE_SHARED_KEY, psk_bytes(tls) - 4);
    at = write_number(at, (uint32_t)identity->length + 6, 2);
    at = write_number(at, (uint32_t)identity->length, 2);
    at = write_bytes(at, identity->at, identity->length);
    at = write_number(at, 0, 4); /* obfuscated_ticket_age, 0 for an external key */
    sha256_update(&truncated, tls->flight, (size_t)(at - tls->flight));
    sha256_final(&truncated, transcript);
    at = write_number(write_number(at, 1 + HASH, 2), HASH, 1);
    binder_mac(tls, at, transcript);
#endif
    flight_end(tls, body, end);
    flight_encrypted(tls);
    flight_send(tls);
    tls->state = WAIT_SERVER_HELLO;
}

void client_begin(dtls13 *tls) {
    const dtls13_config *config = tls->config;
    sha256_init(&tls->transcript);
    flight_begin(tls);
    uint8_t *at = write_number(flight_message(tls, CLIENT_HELLO), VERSION_LEGACY, 2);
    config->random(at, DTLS13_RANDOM_BYTES);
#ifdef DTLS13_KEY_LOG
    write_bytes(tls->client_random, at, DTLS13_RANDOM_BYTES);
#endif
    at += DTLS13_RANDOM_BYTES;
    at = write_number(at, 0, 2); /* no session, no legacy_cookie */
    at = write_number(write_number(at, 2, 2), SUITE, 2);
    at = write_number(at, 0x0100, 2); /* no compression */
    at = tls->flight + EXTENSIONS_AT + 2;
#if EXCHANGE_GROUP
    at = write_extension(at, SUPPORTED_GROUPS, 4);
    at = write_number(write_number(at, 2, 2), EXCHANGE_GROUP, 2);
    at = write_extension(at, KEY_SHARE, 6 + EXCHANGE_OFFER_BYTES);
    at = write_number(write_number(at, 4 + EXCHANGE_OFFER_BYTES, 2), EXCHANGE_GROUP, 2);
    at = write_number(at, EXCHANGE_OFFER_BYTES, 2);
    config->random(tls->ephemeral, sizeof tls->ephemeral);
    if (exchange_offer(at, tls->ephemeral) != CRYPTO_OK) {
        fail(tls, INTERNAL_ERROR);
        return;
    }
    at += EXCHANGE_OFFER_BYTES;
#endif
    at = write_extension(at, SUPPORTED_VERSIONS, 3);
    at = write_number(write_number(at, 2, 1), VERSION, 2);
#if CREDENTIAL_SCHEME
    at = write_extension(at, SIGNATURE_ALGORITHMS, 4);
    at = write_number(write_number(at, 2, 2), CREDENTIAL_SCHEME, 2);
#if HAS_TYPES
    at = write_extension(at, CLIENT_CERTIFICATE_TYPE, 2);
    at = write_number(at, 0x0100 | CERTIFICATE_TYPE, 2);
    at = write_extension(at, SERVER_CERTIFICATE_TYPE, 2);
    at = write_number(at, 0x0100 | CERTIFICATE_TYPE, 2);
#endif
#else
    at = write_extension(at, PSK_KEY_EXCHANGE_MODES, 2);
    at = write_number(at, 0x0100 | MODE, 2);
#endif
    if (config->cid.at != NULL) {
        at = write_extension(at, CONNECTION_ID, 1 + config->cid.length);
        at = write_number(at, (uint32_t)config->cid.length, 1);
        at = write_bytes(at, config->cid.at, config->cid.length);
    }
    hello_end(tls, at);
}

/* Answers a HelloRetryRequest: the same ClientHello with the server's cookie. */
static enum alert retry(dtls13 *tls, const uint8_t *body, size_t length, reader cookie) {
    uint8_t hash[HASH], *at = tls->flight + tls->flight_length - psk_bytes(tls);
    if (tls->is_retried)
        return UNEXPECTED_MESSAGE;
    if (cookie.at == NULL || cookie.left == 0)
        return ILLEGAL_PARAMETER;
    if (cookie.left > DTLS13_COOKIE_BYTES_MAX)
        return INTERNAL_ERROR;
    tls->is_retried = 1;
    transcript_now(tls, hash);
    transcript_retry(tls, hash);
    transcript_heard(tls, SERVER_HELLO, body, length);
    flight_begin(tls);
    at = write_extension(at, COOKIE, 2 + cookie.left);
    at = write_number(at, (uint32_t)cookie.left, 2);
    at = write_bytes(at, cookie.at, cookie.left);
    hello_end(tls, at);
    return NO_ALERT;
}

static enum alert take_server_hello(dtls13 *tls, const uint8_t *body, size_t length) {
    enum { HAS_VERSION = 1, HAS_SHARE = 2, HAS_KEY = 4, HAS_ID = 8, HAS_COOKIE = 16 };
    reader in = {body, length, 0}, cid = {0}, cookie = {0};
    const uint8_t *share = NULL;
    unsigned seen = 0, wanted = HAS_VERSION;
    uint32_t version = read_number(&in, 2);
    const uint8_t *random = read_bytes(&in, DTLS13_RANDOM_BYTES);
    uint32_t session = read_number(&in, 1), suite = read_number(&in, 2);
    uint32_t compression = read_number(&in, 1);
    reader extensions = read_vector(&in, 2);
    if (!is_read(&in))
        return DECODE_ERROR;
    if (version != VERSION_LEGACY || session != 0 || suite != SUITE || compression != 0)
        return ILLEGAL_PARAMETER;
    int is_retry = crypto_equal(random, RETRY, sizeof RETRY);
    while (extensions.left > 0) {
        uint32_t type = read_number(&extensions, 2);
        reader value = read_vector(&extensions, 2);
        unsigned what = 0;
        if (extensions.is_bad)
            return DECODE_ERROR;
        if (type == SUPPORTED_VERSIONS) {
            what = HAS_VERSION;
            if (read_number(&value, 2) != VERSION)
                return ILLEGAL_PARAMETER;
        } else if (type == COOKIE && is_retry) {
            what = HAS_COOKIE;
            cookie = read_vector(&value, 2);
        } else if (type == CONNECTION_ID && tls->config->cid.at != NULL && !is_retry) {
            what = HAS_ID;
            cid = read_vector(&value, 1);
            if (cid.left > DTLS13_CID_BYTES_MAX)
                return ILLEGAL_PARAMETER;
#if EXCHANGE_GROUP
        } else if (type == KEY_SHARE && !is_retry) {
            what = HAS_SHARE;
            if (read_number(&value, 2) != EXCHANGE_GROUP ||
                read_number(&value, 2) != EXCHANGE_ANSWER_BYTES)
                return ILLEGAL_PARAMETER;
            share = read_bytes(&value, EXCHANGE_ANSWER_BYTES);
#endif
#if DTLS13_HAS_PSK
        } else if (type == PRE_SHARED_KEY && !is_retry) {
            what = HAS_KEY;
            if (read_number(&value, 2) != 0)
                return ILLEGAL_PARAMETER;
#endif
        }
        if (what == 0)
            return UNSUPPORTED_EXTENSION;
        if (!is_read(&value) || (seen & what))
            return DECODE_ERROR;
        seen |= what;
    }
    if (is_retry)
        return seen & HAS_VERSION ? retry(tls, body, length, cookie) : ILLEGAL_PARAMETER;
    wanted |= (EXCHANGE_GROUP ? HAS_SHARE : 0) | (DTLS13_HAS_PSK ? HAS_KEY : 0);
    if ((seen & wanted) != wanted)
        return ILLEGAL_PARAMETER;
#if EXCHANGE_GROUP
    uint8_t shared[EXCHANGE_SHARED_BYTES];
    if (exchange_finish(shared, tls->ephemeral, share) != CRYPTO_OK)
        return ILLEGAL_PARAMETER;
    crypto_wipe(tls->ephemeral, sizeof tls->ephemeral);
    transcript_heard(tls, SERVER_HELLO, body, length);
    derive_handshake(tls, shared, sizeof shared);
    crypto_wipe(shared, sizeof shared);
#else
    (void)share;
    transcript_heard(tls, SERVER_HELLO, body, length);
    derive_handshake(tls, NULL, 0);
#endif
    if (seen & HAS_ID) {
        tls->cid_length = (uint8_t)cid.left;
        write_bytes(tls->cid, cid.at, cid.left);
        tls->cid_here = tls->config->cid.length > 0;
    }
    tls->unacknowledged = tls->unsent = 0;
    tls->state = WAIT_ENCRYPTED_EXTENSIONS;
    return NO_ALERT;
}

static enum alert take_encrypted_extensions(dtls13 *tls, const uint8_t *body, size_t length) {
    reader in = {body, length, 0}, extensions = read_vector(&in, 2);
    uint8_t types = 0;
    if (!is_read(&in))
        return DECODE_ERROR;
    while (extensions.left > 0) {
        uint32_t type = read_number(&extensions, 2);
        reader value = read_vector(&extensions, 2);
        if (extensions.is_bad)
            return DECODE_ERROR;
        if (HAS_TYPES && (type == CLIENT_CERTIFICATE_TYPE || type == SERVER_CERTIFICATE_TYPE)) {
            if (read_number(&value, 1) != CERTIFICATE_TYPE || !is_read(&value))
                return ILLEGAL_PARAMETER;
            types |= type == SERVER_CERTIFICATE_TYPE ? 1 : 2;
        } else if (type != SUPPORTED_GROUPS || !EXCHANGE_GROUP) {
            return UNSUPPORTED_EXTENSION;
        }
    }
    if (HAS_TYPES && types != 3)
        return HANDSHAKE_FAILURE; /* it would send X.509 certificates, or want ours */
    tls->state = CREDENTIAL_SCHEME ? WAIT_CERTIFICATE_REQUEST : WAIT_FINISHED;
    return NO_ALERT;
}

#if CREDENTIAL_SCHEME
static enum alert take_certificate_request(dtls13 *tls, const uint8_t *body, size_t length) {
    reader in = {body, length, 0}, context = read_vector(&in, 1), extensions = read_vector(&in, 2);
    int is_usable = 0;
    if (!is_read(&in))
        return DECODE_ERROR;
    if (context.left != 0)
        return ILLEGAL_PARAMETER;
    while (extensions.left > 0) {
        uint32_t type = read_number(&extensions, 2);
        reader value = read_vector(&extensions, 2);
        if (extensions.is_bad)
            return DECODE_ERROR;
        if (type != SIGNATURE_ALGORITHMS)
            continue;
        reader schemes = read_vector(&value, 2);
        while (schemes.left > 0)
            is_usable |= read_number(&schemes, 2) == CREDENTIAL_SCHEME;
        if (schemes.is_bad || !is_read(&value))
            return DECODE_ERROR;
    }
    tls->state = WAIT_CERTIFICATE;
    return is_usable ? NO_ALERT : HANDSHAKE_FAILURE;
}
#endif

static enum alert take_server_finished(dtls13 *tls, const uint8_t *body, size_t length) {
    uint8_t transcript[HASH];
    enum alert alert = take_finished(tls, body, length);
    if (alert != NO_ALERT)
        return alert;
    transcript_now(tls, transcript);
    flight_begin(tls);
#if CREDENTIAL_SCHEME
    alert = add_proof(tls);
    if (alert != NO_ALERT)
        return alert;
#endif
    add_finished(tls);
    derive_application(tls, transcript);
    crypto_wipe(tls->own_secret, sizeof tls->own_secret);
    crypto_wipe(tls->peer_secret, sizeof tls->peer_secret);
    flight_send(tls);
    if (tls->state != CLOSED)
        tls->state = CONNECTED;
    return NO_ALERT;
}

enum alert client_takes(dtls13 *tls, uint8_t type, const uint8_t *body, size_t length) {
    enum alert alert = UNEXPECTED_MESSAGE;
    if (tls->state == WAIT_SERVER_HELLO && type == SERVER_HELLO)
        return take_server_hello(tls, body, length);
    if (tls->state == WAIT_FINISHED && type == FINISHED)
        return take_server_finished(tls, body, length);
    if (tls->state == CONNECTED)
        return type == NEW_SESSION_TICKET ? NO_ALERT : UNEXPECTED_MESSAGE;
    if (tls->state == WAIT_ENCRYPTED_EXTENSIONS && type == ENCRYPTED_EXTENSIONS)
        alert = take_encrypted_extensions(tls, body, length);
#if CREDENTIAL_SCHEME
    if (tls->state == WAIT_CERTIFICATE_REQUEST && type == CERTIFICATE_REQUEST)
        alert = take_certificate_request(tls, body, length);
    if (tls->state == WAIT_CERTIFICATE && type == CERTIFICATE) {
        alert = take_certificate(tls, (reader){body, length, 0});
        tls->state = WAIT_CERTIFICATE_VERIFY;
    } else if (tls->state == WAIT_CERTIFICATE_VERIFY && type == CERTIFICATE_VERIFY) {
        alert = take_certificate_verify(tls, (reader){body, length, 0});
        tls->state = WAIT_FINISHED;
    }
#endif
    if (alert == NO_ALERT)
        transcript_heard(tls, type, body, length);
    return alert;
}

#endif
