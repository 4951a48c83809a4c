/* The server's messages. */
#include "internal.h"
#include "suite.h"

#if DTLS13_SERVER

#if DTLS13_COOKIE
#include "mac/hmac-sha-256.h"

enum { COOKIE_MAC = 16, COOKIE_BYTES = HASH + COOKIE_MAC };

/* A cookie has the hash of the first ClientHello, and a MAC of it and the client's address, so that
   the server needs to remember neither (RFC 8446, section 4.2.2). */
static void cookie_mac(const dtls13 *tls, uint8_t out[HASH], const uint8_t hello_hash[HASH]) {
    sha256_ctx hash;
    hmac_sha256_begin(&hash, tls->config->cookie_key);
    sha256_update(&hash, hello_hash, HASH);
    sha256_update(&hash, tls->peer_address.at, tls->peer_address.length);
    hmac_sha256_end(&hash, tls->config->cookie_key, out);
}

/* Writes the HelloRetryRequest as the flight, always the same for the same first ClientHello. */
static void write_retry(dtls13 *tls, const uint8_t hello_hash[HASH]) {
    static const uint8_t head[] = {
        0xfe, 0xfd,
        /* random: SHA-256 of "HelloRetryRequest" (RFC 8446, section 4.1.3) */
        0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11, 0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8,
        0x91, 0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e, 0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8,
        0x33, 0x9c,
        /* session, suite, compression, extensions: supported_versions, cookie */
        0, SUITE >> 8, SUITE & 0xff, 0, 0, 6 + 6 + COOKIE_BYTES, 0, SUPPORTED_VERSIONS, 0, 2,
        VERSION >> 8, VERSION & 0xff, 0, COOKIE, 0, 2 + COOKIE_BYTES, 0, COOKIE_BYTES};
    uint8_t mac[HASH];
    transcript_retry(tls, hello_hash);
    tls->next_sequence = 0;
    flight_begin(tls);
    uint8_t *body = flight_message(tls, SERVER_HELLO), *at;
    at = write_bytes(body, head, sizeof head);
    at = write_bytes(at, hello_hash, HASH);
    cookie_mac(tls, mac, hello_hash);
    flight_end(tls, body, write_bytes(at, mac, COOKIE_MAC));
    flight_encrypted(tls);
}

/* Checks the cookie and makes the transcript what it would be, had the server kept it. */
static int take_cookie(dtls13 *tls, reader cookie) {
    uint8_t mac[HASH];
    if (cookie.left != COOKIE_BYTES)
        return 0;
    cookie_mac(tls, mac, cookie.at);
    if (!crypto_equal(mac, cookie.at + HASH, COOKIE_MAC))
        return 0;
    write_retry(tls, cookie.at);
    return 1;
}
#endif

/* What a ClientHello offers. */
typedef struct {
    reader cid, cookie, identities, binders;
    const uint8_t *share, *binders_at;
    uint16_t selected; /* which pre-shared key */
    uint8_t has_version, has_mode, has_scheme, has_types, lacks_type, has_cid;
} offer;

/* Returns whether a list of numbers of so many bytes each contains one. */
static int contains(reader list, unsigned bytes, uint32_t wanted) {
    int is_there = 0;
    while (list.left > 0)
        is_there |= read_number(&list, bytes) == wanted;
    return is_there && !list.is_bad;
}

static enum alert take_extension(uint32_t type, reader *value, offer *out) {
    switch (type) {
    case SUPPORTED_VERSIONS:
        out->has_version = (uint8_t)contains(read_vector(value, 1), 2, VERSION);
        break;
    case COOKIE:
        out->cookie = read_vector(value, 2);
        break;
    case CONNECTION_ID:
        out->has_cid = 1;
        out->cid = read_vector(value, 1);
        break;
#if EXCHANGE_GROUP
    case KEY_SHARE: {
        reader shares = read_vector(value, 2);
        while (shares.left > 0) {
            uint32_t group = read_number(&shares, 2);
            reader share = read_vector(&shares, 2);
            if (shares.is_bad)
                return DECODE_ERROR;
            if (group == EXCHANGE_GROUP && share.left == EXCHANGE_OFFER_BYTES)
                out->share = share.at;
        }
        break;
    }
#endif
#if DTLS13_HAS_PSK
    case PSK_KEY_EXCHANGE_MODES:
        out->has_mode = (uint8_t)contains(read_vector(value, 1), 1, MODE);
        break;
    case PRE_SHARED_KEY:
        out->identities = read_vector(value, 2);
        out->binders_at = value->at;
        out->binders = read_vector(value, 2);
        break;
#else
    case SIGNATURE_ALGORITHMS:
        out->has_scheme = (uint8_t)contains(read_vector(value, 2), 2, CREDENTIAL_SCHEME);
        break;
    case CLIENT_CERTIFICATE_TYPE:
    case SERVER_CERTIFICATE_TYPE:
        if (contains(read_vector(value, 1), 1, CERTIFICATE_TYPE))
            out->has_types |= type == CLIENT_CERTIFICATE_TYPE ? 1 : 2;
        else
            out->lacks_type = 1;
        break;
#endif
    default:
        return NO_ALERT;
    }
    return is_read(value) ? NO_ALERT : DECODE_ERROR;
}

static enum alert parse(const uint8_t *body, size_t length, offer *out) {
    reader in = {body, length, 0};
    uint32_t version = read_number(&in, 2);
    read_bytes(&in, DTLS13_RANDOM_BYTES);
    reader session = read_vector(&in, 1), legacy_cookie = read_vector(&in, 1);
    reader suites = read_vector(&in, 2), compression = read_vector(&in, 1);
    reader extensions = read_vector(&in, 2);
    if (!is_read(&in) || session.left > 32)
        return DECODE_ERROR;
    if (version != VERSION_LEGACY || legacy_cookie.left != 0 || compression.left != 1 ||
        compression.at[0] != 0)
        return ILLEGAL_PARAMETER;
    if (!contains(suites, 2, SUITE))
        return HANDSHAKE_FAILURE;
    uint32_t seen_low = 0, seen_high = 0; /* extensions 0 to 63 */
    while (extensions.left > 0) {
        uint32_t type = read_number(&extensions, 2);
        reader value = read_vector(&extensions, 2);
        if (extensions.is_bad)
            return DECODE_ERROR;
        uint32_t *seen = type < 32 ? &seen_low : &seen_high, bit = 1ul << type % 32;
        if (type < 64 && (*seen & bit))
            return ILLEGAL_PARAMETER;
        if (type < 64)
            *seen |= bit;
        enum alert alert = take_extension(type, &value, out);
        if (alert != NO_ALERT)
            return alert;
        if (type == PRE_SHARED_KEY && extensions.left > 0)
            return ILLEGAL_PARAMETER; /* it must be the last one (RFC 8446, section 4.2.11) */
    }
    if (!out->has_version || (EXCHANGE_GROUP && out->share == NULL) ||
        (CREDENTIAL_SCHEME && (!out->has_scheme || out->lacks_type)) ||
        (HAS_TYPES && out->has_types != 3) || (DTLS13_HAS_PSK && !out->has_mode))
        return HANDSHAKE_FAILURE;
    return NO_ALERT;
}

#if DTLS13_HAS_PSK
/* Finds our key among the offered ones, and checks that the client has it. */
static enum alert check_binder(const dtls13 *tls, const uint8_t *body, size_t length, offer *out) {
    uint8_t transcript[HASH], right[HASH], head[4] = {CLIENT_HELLO};
    const dtls13_bytes *own = &tls->config->identity;
    int is_found = 0, is_right;
    for (unsigned i = 0; out->identities.left > 0; i++) {
        reader identity = read_vector(&out->identities, 2), binder;
        read_number(&out->identities, 4); /* obfuscated_ticket_age */
        binder = read_vector(&out->binders, 1);
        if (out->identities.is_bad || binder.is_bad)
            return DECODE_ERROR;
        int is_own = identity.left == own->length;
        for (size_t k = 0; is_own && k < own->length; k++)
            is_own = identity.at[k] == own->at[k];
        if (!is_own || is_found)
            continue;
        if (binder.left != HASH)
            return DECODE_ERROR;
        is_found = 1;
        out->selected = (uint16_t)i;
        sha256_ctx truncated = tls->transcript;
        write_number(head + 1, (uint32_t)length, 3);
        sha256_update(&truncated, head, sizeof head);
        sha256_update(&truncated, body, (size_t)(out->binders_at - body));
        sha256_final(&truncated, transcript);
        binder_mac(tls, right, transcript);
        is_right = crypto_equal(right, binder.at, HASH);
        crypto_wipe(right, sizeof right);
        if (!is_right)
            return DECRYPT_ERROR;
    }
    if (out->binders.left != 0)
        return DECODE_ERROR;
    return is_found ? NO_ALERT : UNKNOWN_PSK_IDENTITY;
}
#endif

/* Writes the flight that answers the ClientHello, which is in the transcript. */
static enum alert answer(dtls13 *tls, const offer *from) {
    const dtls13_config *config = tls->config;
    uint8_t *body, *at, *extensions, transcript[HASH];
    flight_begin(tls);
    at = body = flight_message(tls, SERVER_HELLO);
    at = write_number(at, VERSION_LEGACY, 2);
    config->random(at, DTLS13_RANDOM_BYTES);
    at = write_number(at + DTLS13_RANDOM_BYTES, 0, 1);
    at = write_number(write_number(at, SUITE, 2), 0, 1);
    extensions = at;
    at += 2;
#if EXCHANGE_GROUP
    uint8_t shared[EXCHANGE_SHARED_BYTES], secret[EXCHANGE_SECRET_BYTES];
    at = write_extension(at, KEY_SHARE, 4 + EXCHANGE_ANSWER_BYTES);
    at = write_number(write_number(at, EXCHANGE_GROUP, 2), EXCHANGE_ANSWER_BYTES, 2);
    config->random(secret, sizeof secret);
    crypto_status status = exchange_answer(at, shared, secret, from->share);
    crypto_wipe(secret, sizeof secret);
    if (status != CRYPTO_OK)
        return ILLEGAL_PARAMETER;
    at += EXCHANGE_ANSWER_BYTES;
#endif
    at = write_number(write_extension(at, SUPPORTED_VERSIONS, 2), VERSION, 2);
#if DTLS13_HAS_PSK
    at = write_number(write_extension(at, PRE_SHARED_KEY, 2), from->selected, 2);
#endif
    if (from->has_cid && config->cid.at != NULL && from->cid.left <= DTLS13_CID_BYTES_MAX) {
        at = write_extension(at, CONNECTION_ID, 1 + config->cid.length);
        at = write_number(at, (uint32_t)config->cid.length, 1);
        at = write_bytes(at, config->cid.at, config->cid.length);
        tls->cid_length = (uint8_t)from->cid.left;
        write_bytes(tls->cid, from->cid.at, from->cid.left);
        tls->cid_here = config->cid.length > 0;
    }
    write_number(extensions, (uint32_t)(at - extensions - 2), 2);
    flight_end(tls, body, at);
#if EXCHANGE_GROUP
    derive_handshake(tls, shared, sizeof shared);
    crypto_wipe(shared, sizeof shared);
#else
    derive_handshake(tls, NULL, 0);
#endif
    flight_encrypted(tls);
    at = body = flight_message(tls, ENCRYPTED_EXTENSIONS);
#if HAS_TYPES
    at = write_number(at, 2 * 5, 2);
    at = write_number(write_extension(at, CLIENT_CERTIFICATE_TYPE, 1), CERTIFICATE_TYPE, 1);
    at = write_number(write_extension(at, SERVER_CERTIFICATE_TYPE, 1), CERTIFICATE_TYPE, 1);
#else
    at = write_number(at, 0, 2);
#endif
    flight_end(tls, body, at);
#if CREDENTIAL_SCHEME
    at = body = flight_message(tls, CERTIFICATE_REQUEST);
    at = write_number(at, 0, 1); /* no context */
    at = write_number(at, 8, 2);
    at = write_extension(at, SIGNATURE_ALGORITHMS, 4);
    at = write_number(write_number(at, 2, 2), CREDENTIAL_SCHEME, 2);
    flight_end(tls, body, at);
    enum alert alert = add_proof(tls);
    if (alert != NO_ALERT)
        return alert;
#endif
    add_finished(tls);
    transcript_now(tls, transcript);
    derive_application(tls, transcript);
    flight_send(tls);
    tls->state = CREDENTIAL_SCHEME ? WAIT_CERTIFICATE : WAIT_FINISHED;
    return NO_ALERT;
}

static enum alert take_client_hello(dtls13 *tls, const uint8_t *body, size_t length) {
    offer from = {0};
    enum alert alert = parse(body, length, &from);
    if (alert != NO_ALERT)
        return alert;
#ifdef DTLS13_KEY_LOG
    write_bytes(tls->client_random, body + 2, DTLS13_RANDOM_BYTES);
#endif
    sha256_init(&tls->transcript);
#if DTLS13_COOKIE
    if (from.cookie.left == 0) {
        uint8_t hash[HASH];
        transcript_heard(tls, CLIENT_HELLO, body, length);
        transcript_now(tls, hash);
        write_retry(tls, hash);
        flight_send(tls);
        tls->unacknowledged = 0;
        return INTERNAL_ERROR; /* the message is answered but not taken */
    }
    if (!take_cookie(tls, from.cookie))
        return ILLEGAL_PARAMETER;
#endif
#if DTLS13_HAS_PSK
    alert = check_binder(tls, body, length, &from);
    if (alert != NO_ALERT)
        return alert;
#endif
    transcript_heard(tls, CLIENT_HELLO, body, length);
    return answer(tls, &from);
}

enum alert server_takes(dtls13 *tls, uint8_t type, const uint8_t *body, size_t length) {
    enum alert alert = UNEXPECTED_MESSAGE;
    if (tls->state == WAIT_CLIENT_HELLO && type == CLIENT_HELLO)
        return take_client_hello(tls, body, length);
    /* The client has got our flight. */
    tls->unacknowledged = tls->unsent = 0;
    if (tls->state == WAIT_FINISHED && type == FINISHED) {
        alert = take_finished(tls, body, length);
        if (alert == NO_ALERT) {
            crypto_wipe(tls->own_secret, sizeof tls->own_secret);
            crypto_wipe(tls->peer_secret, sizeof tls->peer_secret);
            tls->state = CONNECTED;
        }
        return alert;
    }
#if CREDENTIAL_SCHEME
    if (tls->state == WAIT_CERTIFICATE && type == CERTIFICATE) {
        alert = take_certificate(tls, (reader){body, length, 0});
        tls->state = WAIT_CERTIFICATE_VERIFY;
    } else if (tls->state == WAIT_CERTIFICATE_VERIFY && type == CERTIFICATE_VERIFY) {
        alert = take_certificate_verify(tls, (reader){body, length, 0});
        tls->state = WAIT_FINISHED;
    }
    if (alert == NO_ALERT)
        transcript_heard(tls, type, body, length);
#endif
    return alert;
}

#endif
