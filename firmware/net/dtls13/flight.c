/* Flights of handshake messages in both directions: fragments, retransmission and acknowledgement
   (RFC 9147, sections 5.5, 5.8 and 7). */
#include "internal.h"

enum {
    /* An incomplete flight is acknowledged after a quarter of the retransmission timer (section
       7.1). */
    ACK_WAIT_MS = DTLS13_FIRST_WAIT_MS / 4,
    RECORD_NUMBER = 16
};

#define WAIT_MS_MAX 60000ul /* section 5.8.2 */

/* ---- Sending ---- */

void flight_begin(dtls13 *tls) {
    tls->flight_length = tls->flight_plain = 0;
    tls->flight_sequence = tls->next_sequence;
    tls->unacknowledged = tls->unsent = 0;
    tls->pieces = tls->tries = tls->sent_at = 0;
    tls->ack_count = tls->is_ack_due = tls->is_ack_soon = 0;
}

uint8_t *flight_message(dtls13 *tls, enum message_type type) {
    tls->flight[tls->flight_length] = (uint8_t)type;
    return tls->flight + tls->flight_length + 4;
}

OUT_OF_LINE void flight_end(dtls13 *tls, uint8_t *body, uint8_t *end) {
    write_number(body - 3, (uint32_t)(end - body), 3);
    transcript_add(tls, body - 4, (size_t)(end - body) + 4);
    tls->flight_length = (uint16_t)(end - tls->flight);
    tls->next_sequence++;
}

void flight_encrypted(dtls13 *tls) {
    tls->flight_plain = tls->flight_length;
}

OUT_OF_LINE void add_finished(dtls13 *tls) {
    uint8_t transcript[HASH], *body = flight_message(tls, FINISHED);
    transcript_now(tls, transcript);
    finished_mac(body, tls->own_secret, transcript);
    flight_end(tls, body, body + HASH);
}

/* Writes the flight from `from` on, but not beyond `end`, as fragments with their headers, into a
   record with `room`; only counts if `out` is null. Returns how far it came. */
OUT_OF_LINE static size_t fragments(const dtls13 *tls, size_t from, size_t end, uint8_t *out,
                                    size_t room, size_t *written) {
    size_t start = 0;
    uint16_t sequence = tls->flight_sequence;
    *written = 0;
    while (start < end) {
        reader head = {tls->flight + start + 1, 3, 0};
        size_t body = read_number(&head, 3), next = start + 4 + body;
        if (from < next) {
            size_t offset = from > start + 4 ? from - start - 4 : 0, part = body - offset;
            if (*written + HEADER + (part > 0) > room)
                break;
            if (part > room - *written - HEADER)
                part = room - *written - HEADER;
            if (start + 4 + offset + part > end)
                part = end - start - 4 - offset;
            if (out != NULL) {
                out = write_bytes(out, tls->flight + start, 4);
                out = write_number(out, sequence, 2);
                out = write_number(out, (uint32_t)offset, 3);
                out = write_number(out, (uint32_t)part, 3);
                out = write_bytes(out, tls->flight + start + 4 + offset, part);
            }
            *written += HEADER + part;
            from = start + 4 + offset + part;
            if (from < next)
                break;
        }
        start = next;
        sequence++;
    }
    return from;
}

/* Cuts the flight into records: what is plain first, and one encrypted record in each datagram. */
OUT_OF_LINE void flight_send(dtls13 *tls) {
    size_t at = 0, used = 0, most = tls->config->datagram_bytes;
    while (at < tls->flight_length && tls->pieces < DTLS13_PIECES) {
        int is_plain = at < tls->flight_plain;
        size_t end = is_plain ? tls->flight_plain : tls->flight_length, written, next = at;
        size_t more = used + record_overhead(tls, is_plain ? 0 : EPOCH_HANDSHAKE);
        if (more < most)
            next = fragments(tls, at, end, NULL, most - more, &written);
        if (next == at) {
            if (used == 0)
                break;
            used = 0;
            continue;
        }
        tls->piece_end[tls->pieces++] = (uint16_t)next;
        at = next;
        used = is_plain ? more + written : 0;
    }
    if (at < tls->flight_length) {
        fail(tls, INTERNAL_ERROR);
        return;
    }
    tls->unacknowledged = tls->unsent = (uint16_t)((1ul << tls->pieces) - 1);
}

static uint8_t write_epoch(const dtls13 *tls) {
    if (tls->state == CONNECTED || tls->state == CLOSED)
        return tls->write[1].epoch ? EPOCH_DATA : tls->write[0].epoch;
    return tls->write[0].epoch;
}

OUT_OF_LINE static size_t output_ack(dtls13 *tls, uint8_t *datagram) {
    uint8_t content[2 + RECORD_NUMBER * DTLS13_ACKS], *to;
    uint32_t sequence;
    size_t more = record_overhead(tls, write_epoch(tls)) + 2, most = tls->config->datagram_bytes;
    unsigned count = tls->ack_count;
    while (count > 0 && more + RECORD_NUMBER * count > most)
        count--;
    to = write_number(content, RECORD_NUMBER * count, 2);
    for (unsigned i = 0; i < count; i++) {
        to = write_number(write_number(to, 0, 4), tls->acks[i].epoch, 4);
        to = write_number(write_number(to, 0, 4), tls->acks[i].sequence, 4);
    }
    tls->is_ack_due = tls->is_ack_soon = 0;
    if (tls->state == CONNECTED)
        tls->ack_count = 0;
    return record_seal(tls, write_epoch(tls), ACK, datagram, content, (size_t)(to - content),
                       &sequence);
}

OUT_OF_LINE static size_t output_alert(dtls13 *tls, uint8_t *datagram) {
    enum { WARNING = 1, FATAL = 2 };
    uint8_t content[2] = {tls->alert == CLOSE_NOTIFY ? WARNING : FATAL, tls->alert};
    uint32_t sequence;
    size_t length =
        record_seal(tls, write_epoch(tls), ALERT, datagram, content, sizeof content, &sequence);
    tls->alert = NO_ALERT;
    if (tls->state == CLOSED) {
        uint8_t error = tls->error;
        crypto_wipe(tls, sizeof *tls);
        tls->state = CLOSED;
        tls->error = error;
        tls->alert = NO_ALERT;
    }
    return length;
}

size_t dtls13_output(dtls13 *tls, uint8_t *datagram) {
    size_t used = 0;
    if (tls->alert != NO_ALERT)
        return output_alert(tls, datagram);
    if (tls->is_ack_due)
        return output_ack(tls, datagram);
    for (uint8_t i = 0; i < tls->pieces; i++) {
        size_t from = i > 0 ? tls->piece_end[i - 1] : 0, written, length;
        uint8_t epoch = from < tls->flight_plain ? 0 : EPOCH_HANDSHAKE;
        if (!(tls->unsent >> i & 1))
            continue;
        length = used + record_header(tls, epoch);
        fragments(tls, from, tls->piece_end[i], NULL, SIZE_MAX, &written);
        if (used > 0 && used + record_overhead(tls, epoch) + written > tls->config->datagram_bytes)
            break;
        fragments(tls, from, tls->piece_end[i], datagram + length, SIZE_MAX, &written);
        if (tls->sent_at == DTLS13_SENT) { /* forget the older half */
            tls->sent_at = DTLS13_SENT / 2;
            __builtin_memcpy(tls->sent, tls->sent + DTLS13_SENT / 2, sizeof tls->sent / 2);
        }
        dtls13_number *number = &tls->sent[tls->sent_at++];
        number->epoch = epoch;
        number->piece = i;
        used += record_seal(tls, epoch, HANDSHAKE, datagram + used, datagram + length, written,
                            &number->sequence);
        tls->unsent &= (uint16_t)~(1u << i);
        if (epoch != 0)
            break;
    }
    return used;
}

uint32_t dtls13_wait_ms(const dtls13 *tls) {
    if (tls->is_ack_soon)
        return ACK_WAIT_MS;
    if (tls->unacknowledged == 0)
        return 0;
    uint32_t wait = (uint32_t)DTLS13_FIRST_WAIT_MS << (tls->tries < 6 ? tls->tries : 6);
    return wait < WAIT_MS_MAX ? wait : WAIT_MS_MAX;
}

void dtls13_expired(dtls13 *tls) {
    if (tls->is_ack_soon) {
        tls->is_ack_soon = 0;
        tls->is_ack_due = 1;
        return;
    }
    if (tls->unacknowledged != 0 && tls->tries < UINT8_MAX)
        tls->tries++;
    tls->unsent = tls->unacknowledged;
}

/* ---- Receiving ---- */

dtls13_event fail(dtls13 *tls, enum alert alert) {
    tls->alert = tls->error = (uint8_t)alert;
    tls->state = CLOSED;
    tls->unacknowledged = tls->unsent = tls->is_ack_soon = tls->is_ack_due = 0;
    return DTLS13_CLOSED;
}

OUT_OF_LINE enum alert take_finished(dtls13 *tls, const uint8_t *body, size_t length) {
    uint8_t transcript[HASH], right[HASH];
    int is_right;
    if (length != HASH)
        return DECODE_ERROR;
    transcript_now(tls, transcript);
    finished_mac(right, tls->peer_secret, transcript);
    is_right = crypto_equal(right, body, HASH);
    crypto_wipe(right, sizeof right);
    if (!is_right)
        return DECRYPT_ERROR;
    transcript_heard(tls, FINISHED, body, length);
    return NO_ALERT;
}

/* Takes a whole message; returns whether it was taken. */
OUT_OF_LINE static int take_message(dtls13 *tls, uint8_t epoch, uint8_t type, const uint8_t *body,
                                    size_t length) {
    enum alert alert;
#if DTLS13_CLIENT && DTLS13_SERVER
    alert = tls->role == DTLS13_CLIENT_ROLE ? client_takes(tls, type, body, length)
                                            : server_takes(tls, type, body, length);
#elif DTLS13_CLIENT
    alert = client_takes(tls, type, body, length);
#else
    alert = server_takes(tls, type, body, length);
#endif
    if (alert == NO_ALERT) {
        tls->hear_sequence++;
        return 1;
    }
    if (epoch != 0)
        fail(tls, alert);
    else if (tls->role == DTLS13_SERVER_ROLE && alert != INTERNAL_ERROR)
        tls->alert = (uint8_t)alert; /* and goes on: anybody can have sent it */
    return 0;
}

/* The epoch of the next message: nothing that must be encrypted is taken in plain text. */
static uint8_t expected_epoch(const dtls13 *tls) {
    if (tls->state == WAIT_CLIENT_HELLO || tls->state == WAIT_SERVER_HELLO)
        return 0;
    return tls->state == CONNECTED ? EPOCH_DATA : EPOCH_HANDSHAKE;
}

/* Adds a part of a message to what is there of it: to its beginning, or to a later part that came
   before what is between. Begins the message in the place of another. Returns 0 if it cannot be
   added. */
OUT_OF_LINE static int take_part(dtls13 *tls, uint8_t type, uint16_t sequence, size_t whole,
                                 size_t offset, const uint8_t *part, size_t length) {
    size_t end = offset + length;
    if (whole > DTLS13_MESSAGE_BYTES)
        return 0;
    if (tls->heard_type != type || tls->heard_sequence != sequence || tls->heard_length != whole) {
        tls->heard_type = type;
        tls->heard_sequence = sequence;
        tls->heard_length = (uint16_t)whole;
        tls->heard = tls->late = tls->late_end = 0;
    }
    if (offset <= tls->heard) {
        if (end > tls->heard)
            tls->heard = (uint16_t)end;
    } else if (tls->late_end == 0) {
        tls->late = (uint16_t)offset;
        tls->late_end = (uint16_t)end;
    } else if (offset > tls->late_end || end < tls->late) {
        return 0; /* a second gap */
    } else {
        if (offset < tls->late)
            tls->late = (uint16_t)offset;
        if (end > tls->late_end)
            tls->late_end = (uint16_t)end;
    }
    if (tls->late <= tls->heard && tls->late_end > tls->heard)
        tls->heard = tls->late_end;
    write_bytes(tls->message + offset, part, length);
    return 1;
}

#if DTLS13_EARLY_BYTES
/* Keeps the messages and parts of a record of the handshake that could not be taken yet. Returns 0
   if there is no room. */
static int keep_early(dtls13 *tls, const record *r) {
    if (r->epoch != EPOCH_HANDSHAKE || expected_epoch(tls) != EPOCH_HANDSHAKE ||
        r->length > sizeof tls->early - tls->early_length)
        return 0;
    write_bytes(tls->early + tls->early_length, r->at, r->length);
    tls->early_length = (uint16_t)(tls->early_length + r->length);
    return 1;
}
#endif

/* Takes the messages, and parts of messages, in a record. */
OUT_OF_LINE static void take_handshake(dtls13 *tls, const record *r) {
    reader in = {r->at, r->length, 0};
    uint16_t sent_before = tls->next_sequence;
    int is_taken = 1, is_repeated = 0, is_new = 0;
    while (in.left > 0 && is_taken) {
        uint8_t type = (uint8_t)read_number(&in, 1);
        size_t whole = read_number(&in, 3);
        uint16_t sequence = (uint16_t)read_number(&in, 2);
        size_t offset = read_number(&in, 3);
        reader part = read_vector(&in, 3);
        size_t length = part.left;
        if (in.is_bad || part.is_bad || offset > whole || length > whole - offset || type == 0) {
            if (r->epoch != 0)
                fail(tls, DECODE_ERROR);
            return;
        }
#if DTLS13_COOKIE
        /* A server that has asked for a cookie knows nothing of it. */
        if (tls->state == WAIT_CLIENT_HELLO && sequence <= 1 && length == whole)
            tls->hear_sequence = sequence;
#endif
        if (sequence < tls->hear_sequence) {
            is_repeated |= sequence + 1 == tls->hear_sequence && offset + length == whole;
            continue;
        }
        is_new = 1;
        if (r->epoch != expected_epoch(tls)) {
            is_taken = 0;
            break;
        }
        if (sequence > tls->hear_sequence) {
            /* Keeps a message that came too early, as long as nothing else needs the place; it is
               not acknowledged. */
            if (tls->heard_type == 0 && length == whole)
                take_part(tls, type, sequence, whole, 0, part.at, length);
            is_taken = 0;
            break;
        }
        if (length == whole) {
            if (tls->heard_sequence == sequence)
                tls->heard_type = 0;
            is_taken = take_message(tls, r->epoch, type, part.at, length);
        } else {
            is_taken = take_part(tls, type, sequence, whole, offset, part.at, length);
        }
        while (tls->heard_type != 0 && tls->heard_sequence == tls->hear_sequence &&
               tls->heard == tls->heard_length && r->epoch == expected_epoch(tls)) {
            uint8_t heard_type = tls->heard_type;
            tls->heard_type = 0;
            is_taken = take_message(tls, r->epoch, heard_type, tls->message, tls->heard_length);
        }
    }
    if (tls->state == CLOSED)
        return;
    /* The peer has not got our flight. */
    if (is_repeated)
        tls->unsent = tls->unacknowledged;
    if (tls->write[0].epoch == 0 || tls->next_sequence != sent_before)
        return;
    /* Messages before the peer's current flight have been answered by ours. */
    if (!is_new && tls->state != CONNECTED)
        return;
    int is_kept = is_taken;
#if DTLS13_EARLY_BYTES
    if (r->type != HANDSHAKE) /* a part that was kept, and has been acknowledged */
        return;
    is_kept = is_taken || keep_early(tls, r);
#endif
    if (is_kept && tls->ack_count < DTLS13_ACKS) {
        tls->acks[tls->ack_count].epoch = r->epoch;
        tls->acks[tls->ack_count++].sequence = r->sequence;
    }
    if (tls->state == CONNECTED ? is_taken : !is_taken)
        tls->is_ack_due = tls->ack_count > 0;
    else if (tls->state != CONNECTED)
        tls->is_ack_soon = 1;
}

#if DTLS13_EARLY_BYTES
/* Takes of what was kept as much as can be taken now. */
static void take_early(dtls13 *tls) {
    uint16_t before;
    do {
        before = tls->hear_sequence;
        for (size_t at = 0; at < tls->early_length && tls->state != CLOSED;) {
            reader in = {tls->early + at, tls->early_length - at, 0};
            read_number(&in, 4);
            uint16_t sequence = (uint16_t)read_number(&in, 2);
            read_number(&in, 3);
            size_t length = HEADER + read_number(&in, 3);
            if (in.is_bad || length > tls->early_length - at) {
                fail(tls, DECODE_ERROR);
                return;
            }
            if (sequence < tls->hear_sequence) {
                tls->early_length = (uint16_t)(tls->early_length - length);
                write_bytes(tls->early + at, tls->early + at + length, tls->early_length - at);
                continue;
            }
            take_handshake(tls, &(record){tls->early + at, length, EPOCH_HANDSHAKE, 0, 0});
            at += length;
        }
    } while (tls->hear_sequence != before && tls->state != CLOSED);
    if (tls->state == CONNECTED)
        tls->is_ack_due = tls->ack_count > 0;
}
#endif

OUT_OF_LINE static void take_ack(dtls13 *tls, const record *r) {
    reader in = {r->at, r->length, 0}, numbers = read_vector(&in, 2);
    while (numbers.left > 0) {
        uint32_t epoch_high = read_number(&numbers, 4), epoch = read_number(&numbers, 4);
        uint32_t high = read_number(&numbers, 4), sequence = read_number(&numbers, 4);
        if (numbers.is_bad || epoch_high != 0 || high != 0)
            return;
        for (unsigned i = 0; i < tls->sent_at; i++)
            if (tls->sent[i].epoch == epoch && tls->sent[i].sequence == sequence)
                tls->unacknowledged &= (uint16_t)~(1u << tls->sent[i].piece);
    }
    tls->unsent &= tls->unacknowledged;
}

dtls13_event dtls13_input(dtls13 *tls, uint8_t **datagram, size_t *length, dtls13_bytes *data) {
    record r;
    if (*length == 0 || tls->state == CLOSED || tls->state == IDLE) {
        *length = 0;
        return DTLS13_NOTHING;
    }
    if (!record_open(tls, datagram, length, &r))
        return DTLS13_NOTHING;
    int was_connected = tls->state == CONNECTED;
    switch (r.type) {
    case HANDSHAKE:
        take_handshake(tls, &r);
#if DTLS13_EARLY_BYTES
        if (tls->early_length > 0)
            take_early(tls);
#endif
        break;
    case ACK:
        if (r.epoch != 0)
            take_ack(tls, &r);
        break;
    case APPLICATION_DATA:
        if (r.epoch != EPOCH_DATA || !was_connected)
            break;
        *data = (dtls13_bytes){r.at, r.length};
        return DTLS13_DATA;
    case ALERT:
        /* Anybody can have sent a plain one; the handshake then goes on or times out. */
        if (r.epoch == 0 || r.length != 2)
            break;
        tls->error = r.at[1];
        crypto_wipe(tls->read, sizeof tls->read);
        crypto_wipe(tls->write, sizeof tls->write);
        tls->state = CLOSED;
        tls->unacknowledged = tls->unsent = tls->is_ack_soon = tls->is_ack_due = 0;
        break;
    default:
        if (r.epoch != 0)
            fail(tls, UNEXPECTED_MESSAGE);
    }
    if (tls->state == CLOSED)
        return DTLS13_CLOSED;
    return tls->state == CONNECTED && !was_connected ? DTLS13_CONNECTED : DTLS13_NOTHING;
}

/* ---- An association ---- */

void dtls13_start(dtls13 *tls, const dtls13_config *config, dtls13_role role) {
    crypto_wipe(tls, sizeof *tls);
    tls->config = config;
    tls->role = (uint8_t)role;
    tls->alert = NO_ALERT;
    tls->state = WAIT_CLIENT_HELLO;
    if (config->identity.length > DTLS13_IDENTITY_BYTES_MAX ||
        config->cid.length > DTLS13_CID_BYTES_MAX ||
        config->datagram_bytes < DTLS13_DATAGRAM_BYTES_MIN
#if DTLS13_X509
        || config->certificate.length > DTLS13_CERTIFICATE_BYTES_MAX || config->accepts == NULL
#endif
    ) {
        fail(tls, INTERNAL_ERROR);
        return;
    }
#if DTLS13_CLIENT
    if (role == DTLS13_CLIENT_ROLE)
        client_begin(tls);
#endif
}

int dtls13_is_connected(const dtls13 *tls) {
    return tls->state == CONNECTED;
}

void dtls13_close(dtls13 *tls) {
    if (tls->state != CLOSED)
        fail(tls, CLOSE_NOTIFY);
}
