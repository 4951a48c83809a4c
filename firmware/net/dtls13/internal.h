/* Shared by the sources of DTLS 1.3. */
#ifndef DTLS13_INTERNAL_H
#define DTLS13_INTERNAL_H

#include "dtls13.h"

/* Not inlined: none of it takes long beside the curve, and a single copy saves flash. */
#define OUT_OF_LINE __attribute__((noinline))

enum content { ALERT = 21, HANDSHAKE = 22, APPLICATION_DATA = 23, ACK = 26 };

enum message_type {
    CLIENT_HELLO = 1,
    SERVER_HELLO = 2,
    NEW_SESSION_TICKET = 4,
    ENCRYPTED_EXTENSIONS = 8,
    CERTIFICATE = 11,
    CERTIFICATE_REQUEST = 13,
    CERTIFICATE_VERIFY = 15,
    FINISHED = 20,
    MESSAGE_HASH = 254
};

enum extension {
    SUPPORTED_GROUPS = 10,
    SIGNATURE_ALGORITHMS = 13,
    CLIENT_CERTIFICATE_TYPE = 19,
    SERVER_CERTIFICATE_TYPE = 20,
    PRE_SHARED_KEY = 41,
    SUPPORTED_VERSIONS = 43,
    COOKIE = 44,
    PSK_KEY_EXCHANGE_MODES = 45,
    KEY_SHARE = 51,
    CONNECTION_ID = 54
};

enum alert {
    CLOSE_NOTIFY = 0,
    UNEXPECTED_MESSAGE = 10,
    HANDSHAKE_FAILURE = 40,
    BAD_CERTIFICATE = 42,
    ILLEGAL_PARAMETER = 47,
    UNKNOWN_CA = 48,
    ACCESS_DENIED = 49,
    DECODE_ERROR = 50,
    DECRYPT_ERROR = 51,
    INTERNAL_ERROR = 80,
    UNSUPPORTED_EXTENSION = 110,
    UNKNOWN_PSK_IDENTITY = 115,
    NO_ALERT = 255
};

enum state {
    IDLE,
    WAIT_CLIENT_HELLO,
    WAIT_SERVER_HELLO,
    WAIT_ENCRYPTED_EXTENSIONS,
    WAIT_CERTIFICATE_REQUEST,
    WAIT_CERTIFICATE,
    WAIT_CERTIFICATE_VERIFY,
    WAIT_FINISHED,
    CONNECTED,
    CLOSED
};

enum {
    VERSION_LEGACY = 0xfefd,                /* DTLS 1.2 */
    VERSION = 0xfefc,                       /* DTLS 1.3 */
    CERTIFICATE_TYPE = DTLS13_X509 ? 0 : 2, /* X509, RawPublicKey (RFC 7250, section 7) */
    PSK_KE = 0,
    PSK_DHE_KE = 1,
    MODE = EXCHANGE_GROUP ? PSK_DHE_KE : PSK_KE,
    HEADER = 12, /* of a fragment */
    HASH = 32,
    EPOCH_HANDSHAKE = 2,
    EPOCH_DATA = 3,
    /* RFC 9147, section 4.2.3: the mask of record numbers is made of this much ciphertext. */
    SAMPLE = 16
};

#define RECORDS_MAX (1ul << 23) /* RFC 9147, section 4.5.3 */

/* Certificate types are negotiated (RFC 7250, section 4): X.509 is the one without. */
#define HAS_TYPES (CREDENTIAL_SCHEME != 0 && !DTLS13_X509)

/* ---- Reading: a reader that would leave its bytes becomes bad, and reads zeros. ---- */

typedef struct {
    const uint8_t *at;
    size_t left;
    uint8_t is_bad;
} reader;

const uint8_t *read_bytes(reader *in, size_t count); /* null if there are not as many */
uint32_t read_number(reader *in, unsigned bytes);
/* A vector with a length of so many bytes; empty if it is bad. */
reader read_vector(reader *in, unsigned length_bytes);
/* Returns whether all was read, and nothing was missing. */
static inline int is_read(const reader *in) {
    return !in->is_bad && in->left == 0;
}

/* ---- Writing: into the flight, whose size is that of all that is written. ---- */

uint8_t *write_number(uint8_t *out, uint32_t number, unsigned bytes);
uint8_t *write_bytes(uint8_t *out, const uint8_t *bytes, size_t length);
/* The head of an extension of `length` bytes. */
uint8_t *write_extension(uint8_t *out, enum extension type, size_t length);

/* ---- The key schedule (schedule.c) ---- */

void extract(uint8_t out[HASH], const uint8_t salt[HASH], const uint8_t *secret, size_t length);
/* HKDF-Expand-Label (RFC 8446, section 7.1, with RFC 9147's prefix, section 5.9); up to 32 bytes.
   out may be the secret. */
void expand(uint8_t *out, size_t length, const uint8_t secret[HASH], const char *label,
            const uint8_t *context, size_t context_length);
void hash_empty(uint8_t out[HASH]);
void transcript_add(dtls13 *tls, const uint8_t *message, size_t length);
void transcript_now(const dtls13 *tls, uint8_t out[HASH]);
/* Replaces the first ClientHello by its hash (RFC 8446, section 4.4.1). */
void transcript_retry(dtls13 *tls, const uint8_t hello_hash[HASH]);
/* From the secret of a stage to that of the next: Extract(Derive-Secret(., "derived", ""), ikm). */
void next_secret(uint8_t secret[HASH], const uint8_t *ikm, size_t length);
void finished_mac(uint8_t out[HASH], const uint8_t base[HASH], const uint8_t transcript[HASH]);
#if DTLS13_HAS_PSK
void binder_mac(const dtls13 *tls, uint8_t out[HASH], const uint8_t transcript[HASH]);
#endif
void derive_handshake(dtls13 *tls, const uint8_t *shared, size_t length);
/* Derives application keys and the exporter's secret, from the transcript to the server's
   Finished. */
void derive_application(dtls13 *tls, const uint8_t transcript[HASH]);

/* ---- Records (record.c) ---- */

typedef struct {
    uint8_t *at; /* the content */
    size_t length;
    uint8_t epoch, type;
    uint32_t sequence;
} record;

/* Takes a record off a datagram; returns 0 if it is to be dropped. */
int record_open(dtls13 *tls, uint8_t **datagram, size_t *length, record *out);
/* Writes a record of an epoch; the content may lie at record_header(...) in `out` already. Returns
   its length, or 0 if the epoch's records are used up. */
size_t record_seal(dtls13 *tls, uint8_t epoch, enum content type, uint8_t *out,
                   const uint8_t *content, size_t length, uint32_t *sequence);
size_t record_header(const dtls13 *tls, uint8_t epoch);
size_t record_overhead(const dtls13 *tls, uint8_t epoch);

/* ---- Flights (flight.c) ---- */

/* Begins the next flight; what is not acknowledged of the last one is given up. */
void flight_begin(dtls13 *tls);
/* Begins a message at the end of the flight; returns where its body is to be written. */
uint8_t *flight_message(dtls13 *tls, enum message_type type);
/* Ends the message and adds it to the transcript. */
void flight_end(dtls13 *tls, uint8_t *body, uint8_t *end);
/* From here on, messages are encrypted. */
void flight_encrypted(dtls13 *tls);
/* The flight is complete. */
void flight_send(dtls13 *tls);
/* Adds a Finished, or a Certificate and a CertificateVerify, of ours. */
void add_finished(dtls13 *tls);
dtls13_event fail(dtls13 *tls, enum alert alert);

/* ---- Messages ---- */

/* Each takes a whole message, with its type; returns NO_ALERT or why it is refused. */
enum alert client_takes(dtls13 *tls, uint8_t type, const uint8_t *body, size_t length);
enum alert server_takes(dtls13 *tls, uint8_t type, const uint8_t *body, size_t length);
enum alert take_finished(dtls13 *tls, const uint8_t *body, size_t length);
#if CREDENTIAL_SCHEME
enum alert add_proof(dtls13 *tls);
enum alert take_certificate(dtls13 *tls, reader in);
enum alert take_certificate_verify(const dtls13 *tls, reader in);
#endif
void client_begin(dtls13 *tls);
/* Adds a received message to the transcript. */
void transcript_heard(dtls13 *tls, uint8_t type, const uint8_t *body, size_t length);

#ifdef DTLS13_KEY_LOG
void dtls13_key_log(const char *label, const uint8_t *client_random, const uint8_t *secret);
#endif

#endif
