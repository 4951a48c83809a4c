/* DTLS 1.3 (RFC 9147 over RFC 8446) with AES-128 and SHA-256: one association, without input,
   output or time of its own. The owner gives it the datagrams that arrive, sends those that it
   makes, and tells it when its timer has run out.

     dtls13_start(&tls, &config, DTLS13_CLIENT_ROLE);
     for (;;) {
         while ((length = dtls13_output(&tls, datagram, sizeof datagram)) > 0)
             send datagram;
         wait for a datagram, or until dtls13_wait_ms() after the last one was sent or received:
         on expiry dtls13_expired(&tls); else give it to dtls13_input() until nothing is left of it
     }

   A build has one suite and one way to authenticate, by the parts behind three interfaces:
   - `suite`: AES-128-CCM or -GCM;
   - `exchange`: the group of the (EC)DHE, or none;
   - `credential`: the signatures of raw public keys or, with DTLS13_X509, of certificates; none: an
     external pre-shared key, with the exchange (psk_dhe_ke) or, where there is none, alone (psk_ke,
     without forward secrecy).

   Not supported: 0-RTT, resumption, key updates (an association ends after 2^23 records in one
   direction, the limit of RFC 9147, section 4.5.3, for CCM), renumbering of connections. */
#ifndef DTLS13_H
#define DTLS13_H

#include "credential.h"
#include "exchange.h"
#include "sha256.h"

#if EXCHANGE_GROUP == 0 && CREDENTIAL_SCHEME != 0
#error "raw public keys need an exchange"
#endif
#if DTLS13_X509 && CREDENTIAL_SCHEME == 0
#error "certificates need a credential"
#endif

#define DTLS13_HAS_PSK (CREDENTIAL_SCHEME == 0)

enum {
    DTLS13_SECRET_BYTES = 32,
    DTLS13_KEY_BYTES = 16,
    DTLS13_NONCE_BYTES = 12,
    DTLS13_RANDOM_BYTES = 32,
    DTLS13_COOKIE_BYTES_MAX = 80,
    DTLS13_PIECES = 16, /* records of a flight */
    DTLS13_SENT = 16,   /* records that an ACK may name */
    DTLS13_ACKS = 8,
    /* The longest flight: with four bytes of header a message, before it is fragmented. */
    DTLS13_HELLO_BYTES =
        4 + 2 + 32 + 1 + 1 + 4 + 2 + 2 + 7 + 5 + DTLS13_CID_BYTES_MAX + 4 + 2 +
        DTLS13_COOKIE_BYTES_MAX + 8 + 10 + EXCHANGE_OFFER_BYTES +
        (DTLS13_HAS_PSK ? 6 + 4 + 2 + 2 + DTLS13_IDENTITY_BYTES_MAX + 4 + 2 + 33 : 8 + 6 + 6),
    DTLS13_OWN_BYTES_MAX =
        DTLS13_X509 ? DTLS13_CERTIFICATE_BYTES_MAX : CREDENTIAL_CERTIFICATE_BYTES,
    DTLS13_PROOF_BYTES = CREDENTIAL_SCHEME ? 4 + 1 + 3 + 3 + DTLS13_OWN_BYTES_MAX + 2 + 4 + 4 +
                                                 CREDENTIAL_SIGNATURE_BYTES_MAX
                                           : 0,
    DTLS13_ANSWER_BYTES = 4 + 2 + 32 + 1 + 2 + 1 + 2 + 6 + 5 + DTLS13_CID_BYTES_MAX + 8 +
                          EXCHANGE_ANSWER_BYTES + 6 + 4 + 2 + 10 + 4 + 1 + 2 + 8 +
                          DTLS13_PROOF_BYTES + 4 + 32,
    DTLS13_FLIGHT_BYTES =
        DTLS13_SERVER && (!DTLS13_CLIENT || DTLS13_ANSWER_BYTES > DTLS13_HELLO_BYTES)
            ? DTLS13_ANSWER_BYTES
        : DTLS13_HELLO_BYTES > DTLS13_PROOF_BYTES + 36 ? DTLS13_HELLO_BYTES
                                                       : DTLS13_PROOF_BYTES + 36,
    DTLS13_PLAIN_HEADER_BYTES = 13,
    DTLS13_DATAGRAM_BYTES_MIN = 64, /* an alert or an acknowledgement, or a part of a message */
    /* What a record adds to the data that it carries. */
    DTLS13_RECORD_BYTES_MAX = 1 + DTLS13_CID_BYTES_MAX + 2 + 1 + DTLS13_TAG_BYTES
};

typedef enum {
    DTLS13_NOTHING,
    DTLS13_CONNECTED, /* the peer is authenticated; at the server, it has the keys, too */
    DTLS13_DATA,
    DTLS13_CLOSED /* by an alert from the peer, or by an error, for which an alert is to be sent */
} dtls13_event;

typedef enum { DTLS13_CLIENT_ROLE, DTLS13_SERVER_ROLE } dtls13_role;

typedef struct {
    const uint8_t *at;
    size_t length;
} dtls13_bytes;

#if DTLS13_X509
/* What a certificate says of the peer; it ends with the message. */
typedef struct {
    dtls13_bytes name; /* a dNSName, or else the commonName: RFC 7925, section 4.4 */
    dtls13_bytes not_before, not_after; /* YYMMDDHHMMSSZ, or with four digits of the year */
} dtls13_peer;
#endif

/* What stays the same over associations. */
typedef struct {
    void (*random)(uint8_t *out, size_t length);
    size_t datagram_bytes; /* the longest datagram to send */
    dtls13_bytes psk, identity;
    /* The connection identifier that the peer must put into its records. With null instead of
       bytes, connection identifiers are not negotiated; with no bytes, only the peer's is used. */
    dtls13_bytes cid;
    const uint8_t *secret_key, *public_key; /* of signatures */
#if DTLS13_X509
    dtls13_bytes certificate; /* ours, in DER */
    /* The trust anchor, which has signed both sides' certificates: its subject in DER, its key. */
    dtls13_bytes anchor_name;
    const uint8_t *anchor_key;
    /* Returns whether this is whom we wish to speak with: the anchor vouches for the name, but the
       peer has not shown yet that it has the key. A device with a clock also judges the validity;
       without one, a certificate does not expire. Must not be null. */
    int (*accepts)(const dtls13_peer *peer);
#else
    const uint8_t *peer_public_key; /* pinned */
#endif
#if DTLS13_COOKIE
    const uint8_t *cookie_key; /* 32 bytes of the server's */
#endif
    uint8_t sequence_bytes; /* of record numbers in records that are sent: 1 or 2 */
} dtls13_config;

/* The keys of one direction in one epoch. */
typedef struct {
    uint8_t key[DTLS13_KEY_BYTES], sn_key[DTLS13_KEY_BYTES], iv[DTLS13_NONCE_BYTES];
    uint32_t next;   /* the number of the next record, or one above the highest received */
    uint32_t window; /* bit i: record next - 1 - i has been received */
    uint8_t epoch;   /* 0: there are no keys */
} dtls13_keys;

typedef struct {
    uint32_t sequence;
    uint8_t epoch, piece;
} dtls13_number;

typedef struct {
    const dtls13_config *config;
    dtls13_bytes peer_address; /* bound into cookies; set by the owner of a server that uses them */
    uint8_t role, state, alert, error;
    uint8_t cid_length, cid[DTLS13_CID_BYTES_MAX]; /* in records that we send */
    uint8_t cid_here; /* records to us have our connection identifier */
    uint8_t is_retried;
    uint32_t refused; /* records that were not authentic */
    sha256_ctx transcript;
    uint8_t secret[DTLS13_SECRET_BYTES]; /* the early, the handshake, and the main secret */
    uint8_t own_secret[DTLS13_SECRET_BYTES],
        peer_secret[DTLS13_SECRET_BYTES]; /* handshake traffic */
    uint8_t exporter[DTLS13_SECRET_BYTES];
#if EXCHANGE_GROUP && DTLS13_CLIENT
    uint8_t ephemeral[EXCHANGE_SECRET_BYTES];
#endif
#if DTLS13_X509
    uint8_t peer_public_key[CREDENTIAL_CERTIFICATE_BYTES - CREDENTIAL_PREFIX_BYTES];
#endif
#ifdef DTLS13_KEY_LOG
    uint8_t client_random[DTLS13_RANDOM_BYTES];
#endif
    dtls13_keys read[2], write[2]; /* of the handshake, of application data */
    uint32_t plain_next;

    /* What is heard: the number of the next message; what is there of it, or of a later one: its
       beginning and, behind a gap, the part from late to late_end. */
    uint16_t hear_sequence, heard_sequence, heard, heard_length, late, late_end;
    uint8_t heard_type, message[DTLS13_MESSAGE_BYTES];
#if DTLS13_EARLY_BYTES
    /* Messages and parts of messages that came before what they continue, with their headers. */
    uint16_t early_length;
    uint8_t early[DTLS13_EARLY_BYTES];
#endif
    dtls13_number acks[DTLS13_ACKS];
    uint8_t ack_count, is_ack_due, is_ack_soon;

    /* The flight that is sent: messages with four bytes of header each. */
    uint8_t flight[DTLS13_FLIGHT_BYTES];
    uint16_t flight_length, flight_plain; /* of it in epoch 0 */
    uint16_t flight_sequence, next_sequence;
    uint16_t piece_end[DTLS13_PIECES], unacknowledged, unsent; /* bit i: piece i */
    uint8_t pieces, tries, sent_at;
    dtls13_number sent[DTLS13_SENT];
} dtls13;

/* Begins an association. The configuration is read until its end; one that does not fit the build
   closes it at once. */
void dtls13_start(dtls13 *tls, const dtls13_config *config, dtls13_role role);

/* Writes the next datagram to send; returns its length, or 0 if there is none. There is room for
   config->datagram_bytes. */
size_t dtls13_output(dtls13 *tls, uint8_t *datagram);

/* Takes the next record of a datagram, which it decrypts in place, and shortens the datagram by it.
   After DTLS13_DATA, `data` is what the record carried. */
dtls13_event dtls13_input(dtls13 *tls, uint8_t **datagram, size_t *length, dtls13_bytes *data);

/* Returns after how many milliseconds dtls13_expired is to be called; 0: not at all. */
uint32_t dtls13_wait_ms(const dtls13 *tls);
/* Sends again what was not acknowledged. */
void dtls13_expired(dtls13 *tls);

int dtls13_is_connected(const dtls13 *tls);

/* Writes a record with application data, which may lie at `datagram` + DTLS13_RECORD_BYTES_MAX or
   elsewhere; returns its length, or 0 if nothing may be sent. There is room for the data and
   DTLS13_RECORD_BYTES_MAX + 16. */
size_t dtls13_send(dtls13 *tls, uint8_t *datagram, const uint8_t *data, size_t length);

/* Ends the association: the alert close_notify is sent, keys are wiped once it has been made. */
void dtls13_close(dtls13 *tls);

/* Derives a secret for an application (RFC 8446, section 7.5); label as a string. */
void dtls13_export(const dtls13 *tls, const char *label, const uint8_t *context, size_t length,
                   uint8_t out[32]);

#endif
