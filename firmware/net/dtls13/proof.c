/* Certificates, in X.509 or raw public keys (RFC 7250), and what proves that a side has the key. */
#include "internal.h"
#include "x509.h"

#if CREDENTIAL_SCHEME

enum { SPACES = 64, CONTEXT = 33, SIGNED = SPACES + CONTEXT + 1 + HASH };

/* Writes what is signed (RFC 8446, section 4.4.3). */
static void write_signed(const dtls13 *tls, uint8_t out[SIGNED], int by_client) {
    static const char context[CONTEXT + 1] = "TLS 1.3, server CertificateVerify";
    for (unsigned i = 0; i < SPACES; i++)
        out[i] = ' ';
    write_bytes(out + SPACES, (const uint8_t *)context, CONTEXT + 1);
    if (by_client)
        write_bytes(out + SPACES + 9, (const uint8_t *)"client", 6);
    transcript_now(tls, out + SIGNED - HASH);
}

enum alert add_proof(dtls13 *tls) {
    const dtls13_config *config = tls->config;
    uint8_t message[SIGNED], seed[48], *body = flight_message(tls, CERTIFICATE), *at = body;
    at = write_number(at, 0, 1); /* no context */
#if DTLS13_X509
    size_t own = config->certificate.length;
    write_bytes(at + 6, config->certificate.at, own);
#else
    enum { own = CREDENTIAL_CERTIFICATE_BYTES };
    credential_certificate(at + 6, config->public_key);
#endif
    at = write_number(write_number(at, (uint32_t)(3 + own + 2), 3), (uint32_t)own, 3);
    at = write_number(at + own, 0, 2);
    flight_end(tls, body, at);
    body = flight_message(tls, CERTIFICATE_VERIFY);
    write_signed(tls, message, tls->role == DTLS13_CLIENT_ROLE);
    config->random(seed, sizeof seed);
    size_t length = credential_sign(body + 4, config->secret_key, config->public_key, seed, message,
                                    sizeof message);
    crypto_wipe(seed, sizeof seed);
    if (length == 0)
        return INTERNAL_ERROR;
    at = write_number(write_number(body, CREDENTIAL_SCHEME, 2), (uint32_t)length, 2);
    flight_end(tls, body, at + length);
    return NO_ALERT;
}

#if DTLS13_X509
/* The certificate is one that the trust anchor has signed, and of a peer that is wanted. */
static enum alert take_peer(dtls13 *tls, reader certificate) {
    const dtls13_config *config = tls->config;
    int is_client = tls->role == DTLS13_CLIENT_ROLE;
    x509 of;
    if (!x509_read(certificate, is_client ? DTLS13_SERVER_ROLE : DTLS13_CLIENT_ROLE, &of))
        return BAD_CERTIFICATE;
    if (of.issuer.left != config->anchor_name.length ||
        !crypto_equal(of.issuer.at, config->anchor_name.at, of.issuer.left))
        return UNKNOWN_CA;
    if (!credential_verify(of.signature.at, of.signature.left, config->anchor_key, of.body.at,
                           of.body.left))
        return BAD_CERTIFICATE;
    if (!config->accepts(&of.peer))
        return ACCESS_DENIED;
    write_bytes(tls->peer_public_key, of.public_key, sizeof tls->peer_public_key);
    return NO_ALERT;
}

static const uint8_t *peer_key(const dtls13 *tls) {
    return tls->peer_public_key;
}
#else
/* The peer's key is the one that is expected; nothing else in a certificate is looked at. */
static enum alert take_peer(dtls13 *tls, reader certificate) {
    uint8_t expected[CREDENTIAL_CERTIFICATE_BYTES];
    credential_certificate(expected, tls->config->peer_public_key);
    return certificate.left == sizeof expected &&
                   crypto_equal(certificate.at, expected, sizeof expected)
               ? NO_ALERT
               : BAD_CERTIFICATE;
}

static const uint8_t *peer_key(const dtls13 *tls) {
    return tls->config->peer_public_key;
}
#endif

/* There is one certificate: an anchor signs it, and need not be sent (RFC 8446, section 4.4.2). */
enum alert take_certificate(dtls13 *tls, reader in) {
    reader context = read_vector(&in, 1), list = read_vector(&in, 3);
    reader certificate = read_vector(&list, 3);
    read_vector(&list, 2); /* extensions */
    if (!is_read(&in) || !is_read(&list))
        return DECODE_ERROR;
    if (context.left != 0)
        return ILLEGAL_PARAMETER;
    return take_peer(tls, certificate);
}

enum alert take_certificate_verify(const dtls13 *tls, reader in) {
    uint8_t message[SIGNED];
    uint32_t scheme = read_number(&in, 2);
    reader signature = read_vector(&in, 2);
    if (!is_read(&in))
        return DECODE_ERROR;
    if (scheme != CREDENTIAL_SCHEME)
        return ILLEGAL_PARAMETER;
    write_signed(tls, message, tls->role == DTLS13_SERVER_ROLE);
    return credential_verify(signature.at, signature.left, peer_key(tls), message, sizeof message)
               ? NO_ALERT
               : DECRYPT_ERROR;
}

#endif
