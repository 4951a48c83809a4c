/* Two motes agree on a key with EDHOC (RFC 9528). A lost message is sent again, byte for byte, and
   a repeated message gets the same answer again. A refused message ends the session with an error
   message, and the initiator starts another. The marker is high while a message is computed.

   A first byte tells the transport what the message is (RFC 9528, section 3.4.1): 1 to 4 for a
   message's number, 5 for an error. */
#include "console.h"
#include "fragments.h"
#include "hal.h"
#include "party.h"
#include "sha256.h"

enum {
    PAN = 0x4544,
    ERROR = 5,
    BITE_MS = 500 /* radio_time cannot compare times a second or more apart */
};

static HANDSHAKE(ctx) ctx;
static handshake party;
static const uint8_t *first_ephemeral;
static uint8_t ephemeral[SECRET_BYTES];
static fragments_message in, out; /* in `out`, `from` is the addressee */

static handshake_bytes received(void) {
    return (handshake_bytes){in.bytes + 1, in.length - 1u};
}

static handshake_bytes room(void) {
    return (handshake_bytes){out.bytes + 1, sizeof out.bytes - 1};
}

/* The message just written into the buffer is the next one to send. */
static void filled(uint8_t kind, const handshake_bytes *message) {
    out.bytes[0] = kind;
    out.length = (uint16_t)(1 + message->length);
}

static void say(const char *what, uint16_t number) {
    console_text(what);
    console_number(number);
    console_text("\n");
}

static void say_key(void) {
    uint8_t key[SESSION_KEY_BYTES];
    HANDSHAKE(key)(&ctx, key);
    console_text("key ");
    for (uint8_t i = 0; i < sizeof key; i++)
        console_hex(key[i], 2);
    console_text("\n");
}

/* Makes a session's ephemeral secret. It is predictable, so that each byte on air can be checked:
   the party's for the first session, then H(the party's, number). A product must draw it from a
   random number generator instead. */
static void draw(uint8_t session) {
    for (uint8_t i = 0; i < SECRET_BYTES; i++)
        ephemeral[i] = first_ephemeral[i];
    if (session > 0) {
        sha256_ctx hash;
        sha256_init(&hash);
        sha256_update(&hash, ephemeral, sizeof ephemeral);
        sha256_update(&hash, &session, 1);
        sha256_final(&hash, ephemeral);
    }
}

/* The radio is off while a message is computed: nothing is received. */
static void compute_begin(void) {
    radio_sleep();
    hal_marker_high();
}

static void compute_end(void) {
    hal_marker_low();
    radio_wake();
}

static bool send(void) {
    csma_status status = fragments_send(out.from, out.bytes, out.length);
    if (status != CSMA_OK)
        say("not heard ", out.bytes[0]);
    return status == CSMA_OK;
}

/* Reports what was refused last, with the reason as far as the peer may know it. */
static void send_error(void) {
    handshake_bytes error = room();
    say("refused ", in.bytes[0]);
    HANDSHAKE(error)(&ctx, &error);
    filled(ERROR, &error);
    send();
}

static void sleep(uint16_t ms) {
    for (; ms > 0; ms -= ms < BITE_MS ? ms : BITE_MS)
        radio_sleep_until(
            (radio_time)(radio_now() + radio_ticks((ms < BITE_MS ? ms : BITE_MS) * 1000ul)));
}

/* Turns the radio off while the peer computes, as there is nothing to receive. */
static void rest(uint16_t ms) {
    if (ms == 0)
        return;
    radio_sleep();
    sleep(ms);
    radio_wake();
}

/* Waits for the next message. Returns false if none came. */
static bool hear(uint16_t ms) {
    for (; ms > 0; ms -= ms < BITE_MS ? ms : BITE_MS) {
        uint32_t us = (ms < BITE_MS ? ms : BITE_MS) * 1000ul;
        if (fragments_receive((radio_time)(radio_now() + radio_ticks(us)), &in))
            return true;
    }
    return false;
}

#if EDHOC_PEER != 0

/* Sends the message, repeatedly if need be, until an answer of this kind comes. */
static bool exchange(uint8_t kind) {
    for (uint8_t tries = 0; tries < EDHOC_TRIES; tries++) {
        if (send())
            rest(kind == 2 ? EDHOC_REST_2_MS : EDHOC_REST_4_MS);
        while (hear(EDHOC_WAIT_MS)) {
            if (in.from != EDHOC_PEER || in.length < 2)
                continue;
            if (in.bytes[0] == kind)
                return true;
            handshake_bytes error = received();
            if (in.bytes[0] == ERROR && edhoc_read_error(error.at, error.length)) {
                say("error ", edhoc_read_error(error.at, error.length));
                return false;
            }
        }
    }
    say("no answer to ", out.bytes[0]);
    return false;
}

static bool attempt(uint8_t session) {
    handshake_bytes message = room(), answer;
    out.from = EDHOC_PEER;
    draw(session);
    compute_begin();
    crypto_status status = HANDSHAKE(message_1)(&ctx, &party, &message);
    compute_end();
    filled(1, &message);
    if (status != CRYPTO_OK || !exchange(2))
        return false;
    answer = received();
    message = room();
    compute_begin();
    status = HANDSHAKE(message_3)(&ctx, &party, &answer, &message);
    compute_end();
    if (status != CRYPTO_OK) {
        send_error();
        return false;
    }
    filled(3, &message);
#if EDHOC_CONFIRM
    if (!exchange(4))
        return false;
    answer = received();
    compute_begin();
    status = HANDSHAKE(confirm)(&ctx, &party, &answer);
    compute_end();
    if (status != CRYPTO_OK)
        send_error();
    return status == CRYPTO_OK;
#else
    return send();
#endif
}

int main(void) {
    hal_init();
    party_of_initiator(&party);
    first_ephemeral = party.own.ephemeral;
    party.own.ephemeral = ephemeral;
    if (!csma_init(EDHOC_CHANNEL, PAN, EDHOC_MOTE)) {
        console_text("no radio\n");
        return 1;
    }
    for (uint8_t session = 0; session < EDHOC_ATTEMPTS; session++) {
        say("session ", session);
        if (attempt(session)) {
            say_key();
            break;
        }
    }
    console_text("done\n");
    /* The serial line's clock stops during sleep, and nothing tells when its last byte has gone. */
    for (radio_time end = (radio_time)(radio_now() + radio_ticks(2000));
         radio_time_after(end, radio_now()) > 0;)
        continue;
    radio_sleep();
    for (;;)
        sleep(BITE_MS);
}

#else

/* The last message that was answered, with its sender; `out` holds the answer. */
static fragments_message answered;
static uint8_t session;
static bool open; /* message 2 has been sent, and message 3 has not come */

static bool again(void) {
    if (in.from != answered.from || in.length != answered.length)
        return false;
    for (uint16_t i = 0; i < in.length; i++)
        if (in.bytes[i] != answered.bytes[i])
            return false;
    return true;
}

/* Ends the session; there is nothing left to repeat. */
static void forget(edhoc_error why) {
    if (why != EDHOC_NO_ERROR)
        say("error ", why);
    open = false;
    answered.length = 0;
}

/* Message 1: starts a session, which replaces the previous one. */
static bool begin(void) {
    handshake_bytes message = received(), answer = room();
    say("session ", session);
    draw(session++);
    compute_begin();
    open = HANDSHAKE(message_2)(&ctx, &party, &message, &answer) == CRYPTO_OK;
    compute_end();
    filled(2, &answer);
    return open;
}

/* Message 3: derives the key, and makes message 4 if wanted; else there is nothing to send. */
static bool end(void) {
    handshake_bytes message = received(), answer = room();
    bool was_open = open && in.from == answered.from;
    if (!was_open) {
        ctx.error = EDHOC_NO_ERROR;
        return false;
    }
    open = false;
    compute_begin();
    crypto_status status = HANDSHAKE(finish)(&ctx, &party, &message);
    compute_end();
    if (status != CRYPTO_OK)
        return false;
    out.length = 0;
#if EDHOC_CONFIRM
    compute_begin();
    HANDSHAKE(message_4)(&ctx, &party, &answer);
    compute_end();
    filled(4, &answer);
#endif
    say_key();
    return true;
}

int main(void) {
    hal_init();
    party_of_responder(&party);
    first_ephemeral = party.own.ephemeral;
    party.own.ephemeral = ephemeral;
    if (!csma_init(EDHOC_CHANNEL, PAN, EDHOC_MOTE)) {
        console_text("no radio\n");
        return 1;
    }
    for (;;) {
        if (!hear(EDHOC_WAIT_MS) || in.length < 2)
            continue;
        if (in.bytes[0] == ERROR && in.from == answered.from)
            forget(edhoc_read_error(in.bytes + 1, in.length - 1u));
        if (in.bytes[0] != 1 && in.bytes[0] != 3)
            continue;
        if (!again()) {
            out.from = in.from;
            if (in.bytes[0] == 1 ? !begin() : !end()) {
                forget(EDHOC_NO_ERROR);
                send_error();
                continue;
            }
            answered = in;
        }
        if (out.length > 0 && send() && open)
            rest(EDHOC_REST_3_MS);
    }
}

#endif
