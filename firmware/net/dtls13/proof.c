/* Certificates that are raw public keys (RFC 7250), and what proves that a side has the key. */
#include "internal.h"

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
    at = write_number(at, 3 + CREDENTIAL_CERTIFICATE_BYTES + 2, 3);
    at = write_number(at, CREDENTIAL_CERTIFICATE_BYTES, 3);
    credential_certificate(at, config->public_key);
    at = write_number(at + CREDENTIAL_CERTIFICATE_BYTES, 0, 2);
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

/* The peer's key is the one that is expected; nothing else in a certificate is looked at. */
enum alert take_certificate(const dtls13 *tls, reader in) {
    uint8_t expected[CREDENTIAL_CERTIFICATE_BYTES];
    reader context = read_vector(&in, 1), list = read_vector(&in, 3);
    reader certificate = read_vector(&list, 3);
    read_vector(&list, 2); /* extensions */
    if (!is_read(&in) || !is_read(&list))
        return DECODE_ERROR;
    if (context.left != 0)
        return ILLEGAL_PARAMETER;
    credential_certificate(expected, tls->config->peer_public_key);
    return certificate.left == sizeof expected &&
                   crypto_equal(certificate.at, expected, sizeof expected)
               ? NO_ALERT
               : BAD_CERTIFICATE;
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
    return credential_verify(signature.at, signature.left, tls->config->peer_public_key, message,
                             sizeof message)
               ? NO_ALERT
               : DECRYPT_ERROR;
}

#endif
