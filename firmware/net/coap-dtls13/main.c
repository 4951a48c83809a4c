/* A client and a server agree on keys with DTLS 1.3, and then exchange CoAP's requests and
   responses (RFC 7252, section 9).

   DTLS sends its flights again (RFC 9147, section 5.8), and CoAP its requests (RFC 7252, section
   4.2): in a new record, as the other side drops an old one. The marker is high, and the radio off,
   while a side computes; what it does again for what was lost is not marked, or is taken back by an
   empty window. */
#include "boots.h"
#include "coap.h"
#include "console.h"
#include "dtls13.h"
#include "hal.h"
#include "keys.h"
#include "udp.h"
#if DTLS13_X509
#include "certificates.h"
#endif

enum {
    CLIENT_PORT = 0xf0b1,
    SERVER_PORT = 5684,
    MAX_RETRANSMIT = 4, /* RFC 7252, section 4.8 */
    MAX_TRIES = 7,
    GIVE_UP_MS = 60000,
    NEXT_DATAGRAM_MS = 200,
    COAP_BYTES_MAX = 96,
    IS_CLIENT = LEDGER_PEER != 0
};

static const uint8_t RESOURCE[] = "s";
static const uint8_t PSK[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const uint8_t CLIENT_CID[] = {0x42}, SERVER_CID[] = {0x43};

static dtls13 tls;
static udp_datagram in;
static uint8_t out[UDP_BYTES_MAX], message[COAP_BYTES_MAX];
static uint16_t peer;

/* Predictable, so that each byte on the air can be checked: the hashes of this mote's address, a
   number and, where boots are counted, the boot, so that no key comes again. A product must draw
   from a random number generator. */
static void draw(uint8_t *to, size_t length) {
    static uint8_t from[2 + 2 * (BOOTS_MAX > 0)] = {LEDGER_MOTE};
    uint8_t block[SHA256_DIGEST_BYTES];
    sha256_ctx hash;
    for (size_t i = 2; i < sizeof from; i++)
        from[i] = (uint8_t)(boots_count() >> (8 * (i - 2)));
    for (size_t i = 0; i < length; i++) {
        if (i % sizeof block == 0) {
            sha256_init(&hash);
            sha256_update(&hash, from, sizeof from);
            sha256_final(&hash, block);
            from[1]++;
        }
        to[i] = block[i % sizeof block];
    }
}

#if DTLS13_X509
#if LEDGER_PEER != 0
#define OWN_CERTIFICATE client_certificate
#define PEER_NAME SERVER_NAME
#else
#define OWN_CERTIFICATE server_certificate
#define PEER_NAME CLIENT_NAME
#endif

/* Whoever has another certificate of the authority is not spoken with. */
static int accepts(const dtls13_peer *from) {
    static const char name[] = PEER_NAME;
    return from->name.length == sizeof name - 1 &&
           crypto_equal(from->name.at, (const uint8_t *)name, sizeof name - 1);
}
#endif

static const dtls13_config CONFIG = {.random = draw,
                                     .datagram_bytes = UDP_BYTES_MAX,
                                     .psk = {PSK, sizeof PSK},
                                     .identity = {(const uint8_t *)"I", 1},
#if DTLS_CID
                                     .cid = {IS_CLIENT ? CLIENT_CID : SERVER_CID, 1},
#endif
                                     .secret_key = IS_CLIENT ? client_secret : server_secret,
                                     .public_key = IS_CLIENT ? client_public : server_public,
#if DTLS13_X509
                                     .certificate = {OWN_CERTIFICATE, sizeof OWN_CERTIFICATE},
                                     .anchor_name = {anchor_name, sizeof anchor_name},
                                     .anchor_key = anchor_key,
                                     .accepts = accepts,
#else
                                     .peer_public_key = IS_CLIENT ? server_public : client_public,
#endif
                                     .sequence_bytes = 1};

static void compute_begin(void) {
    radio_sleep();
    hal_marker_high();
}

static void compute_end(void) {
    hal_marker_low();
    radio_wake();
}

/* The last window repeated an earlier one. */
static void compute_take_back(void) {
    hal_marker_high();
    hal_marker_low();
}

static void say_key(void) {
    uint8_t key[32];
    dtls13_export(&tls, "EXPORTER-joulemark", NULL, 0, key);
    console_text("key ");
    for (uint8_t i = 0; i < sizeof key; i++)
        console_hex(key[i], 2);
    console_text("\n");
}

static void send(size_t length) {
    udp_send(peer, IS_CLIENT ? CLIENT_PORT : SERVER_PORT, IS_CLIENT ? SERVER_PORT : CLIENT_PORT,
             out, (uint16_t)length);
}

/* Sends a datagram that has been made, and all others that are due. */
static void flush(size_t length) {
    for (; length > 0; length = dtls13_output(&tls, out))
        send(length);
}

static bool is_plain(void) {
    return in.length > 0 && in.bytes[0] >> 5 != 1;
}

/* The lower two bits of the epoch, in a record's unified header. */
static bool is_of_epoch(uint8_t epoch) {
    return in.length > 0 && !is_plain() && (in.bytes[0] & 3) == epoch;
}

/* Takes all records of the datagram. Returns the event that counts, and the last data. */
static dtls13_event take(dtls13_bytes *data) {
    uint8_t *at = in.bytes;
    size_t left = in.length;
    dtls13_event told = DTLS13_NOTHING;
    while (left > 0) {
        dtls13_event event = dtls13_input(&tls, &at, &left, data);
        if (event != DTLS13_NOTHING)
            told = event;
    }
    return told;
}

static bool has_answered;

/* Takes a datagram of the handshake, and answers it. */
static dtls13_event take_step(bool is_new) {
    dtls13_bytes data;
    uint8_t state = tls.state;
    if (is_new)
        compute_begin();
    dtls13_event event = take(&data);
    size_t length = dtls13_output(&tls, out);
    if (is_new)
        compute_end();
    /* Nothing came of it, unless it is that our last flight was heard. */
    bool is_confirmed = dtls13_is_connected(&tls) && dtls13_wait_ms(&tls) == 0;
    if (is_new && length == 0 && tls.state == state && !is_confirmed)
        compute_take_back();
    has_answered |= length > 0;
    flush(length);
    return event;
}

static bool is_from_peer(void) {
    return in.from == peer && in.from_port == (IS_CLIENT ? SERVER_PORT : CLIENT_PORT) &&
           in.to_port == (IS_CLIENT ? CLIENT_PORT : SERVER_PORT);
}

static void fill(coap_writer *to, char first, uint8_t period, uint16_t length) {
    uint8_t byte = 0xff;
    if (length > 0)
        coap_write_bytes(to, &byte, 1);
    for (uint16_t i = 0; i < length; i++) {
        byte = (uint8_t)(first + i % period);
        coap_write_bytes(to, &byte, 1);
    }
}

/* Moves a reader to the payload, over options that are a path or none, and compares both. */
static bool is_filled(coap_reader *options, size_t path_length, char first, uint8_t period,
                      uint16_t length) {
    coap_option option;
    coap_next next;
    bool is_right = true;
    while ((next = coap_read(options, &option)) == COAP_OPTION) {
        is_right &= option.number == COAP_URI_PATH && option.length == path_length &&
                    option.value[0] == RESOURCE[0];
        path_length = 0;
    }
    is_right &= next == COAP_END && path_length == 0 && options->left == length;
    for (uint16_t i = 0; is_right && i < length; i++)
        is_right = options->at[i] == first + i % period;
    return is_right;
}

#if LEDGER_PEER != 0

/* Has DTLS send again what was not acknowledged; returns false if it is to give up. */
static bool wait_over(void) {
    dtls13_expired(&tls);
    flush(dtls13_output(&tls, out));
    return tls.tries < MAX_TRIES;
}

static bool agree(void) {
    bool has_flight = false, is_confirmed = false;
    peer = LEDGER_PEER;
    compute_begin();
    dtls13_start(&tls, &CONFIG, DTLS13_CLIENT_ROLE);
    size_t length = dtls13_output(&tls, out);
    compute_end();
    flush(length);
    while (!is_confirmed) {
        uint32_t wait = dtls13_wait_ms(&tls);
        udp_timer timer = udp_timer_of(wait > 0 ? wait : GIVE_UP_MS);
        if (!udp_hear(&timer, &in)) {
            if (wait == 0 || !wait_over())
                return false;
            continue;
        }
        if (!is_from_peer())
            continue;
#if DTLS_TWO_DATAGRAMS
        /* What comes while the first one is computed would be lost. */
        if (!has_flight && is_plain()) {
            static udp_datagram kept, other;
            kept = in;
            timer = udp_timer_of(NEXT_DATAGRAM_MS);
            bool has_second = udp_hear(&timer, &in) && is_from_peer();
            other = in;
            in = kept;
            take_step(true);
            if (!has_second)
                continue;
            in = other;
        }
#endif
        bool is_ack = has_flight && is_of_epoch(3);
        dtls13_event event = take_step(is_ack || (!has_flight && !is_of_epoch(3)));
        has_flight |= event == DTLS13_CONNECTED;
        if (event == DTLS13_CLOSED)
            return false;
        is_confirmed = has_flight && dtls13_wait_ms(&tls) == 0;
    }
    say_key();
    return true;
}

static bool is_answer(const dtls13_bytes *data, uint16_t id, coap_reader *options) {
    coap_head head;
    size_t n = coap_read_head(data->at, data->length, &head);
    *options = (coap_reader){data->at + n, data->length - n, 0};
    return n > 0 && head.type == COAP_ACK && head.code == COAP_CHANGED && head.id == id;
}

static bool request(uint16_t id) {
    coap_writer to = {.at = message, .room = sizeof message};
    uint32_t ms = COAP_ACK_TIMEOUT_MS;
    for (uint8_t tries = 0; tries <= MAX_RETRANSMIT; tries++, ms *= 2) {
        if (tries == 0) {
            compute_begin();
            coap_write_head(&to, &(coap_head){.type = COAP_CON,
                                              .code = COAP_POST,
                                              .token_length = 1,
                                              .id = id,
                                              .token = {(uint8_t)id}});
            coap_write(&to, COAP_URI_PATH, RESOURCE, sizeof RESOURCE - 1);
            fill(&to, '0', 10, LEDGER_REQUEST_BYTES);
        }
        size_t length = dtls13_send(&tls, out, message, (size_t)(to.at - message));
        if (tries == 0)
            compute_end();
        if (length == 0 || to.overflow)
            return false;
        send(length);
        udp_timer timer = udp_timer_of(ms);
        while (udp_hear(&timer, &in)) {
            dtls13_bytes data;
            coap_reader options;
            if (!is_from_peer() || !is_of_epoch(3)) {
                take_step(false);
                continue;
            }
            compute_begin();
            dtls13_event event = take(&data);
            bool is_ours = event == DTLS13_DATA && is_answer(&data, id, &options);
            compute_end();
            if (is_ours)
                return is_filled(&options, 0, 'A', 26, LEDGER_RESPONSE_BYTES);
            compute_take_back();
        }
    }
    return false;
}

int main(void) {
    hal_init();
    if (!udp_init(LEDGER_MOTE)) {
        console_text("no radio\n");
        return 1;
    }
    bool is_good = agree();
    for (uint16_t i = 1; is_good && i <= LEDGER_RECORDS; i++)
        is_good = request(i);
    console_text(is_good ? "done\n" : "failed\n");
    for (;;)
        udp_rest(60000);
}

#else

static uint16_t answered;
static bool any_answered;

/* Answers a request that was opened in the last window. */
static void answer(const dtls13_bytes *data) {
    coap_head head;
    size_t n = coap_read_head(data->at, data->length, &head);
    coap_reader options = {data->at + n, data->length - n, 0};
    coap_writer to = {.at = message, .room = sizeof message};
    if (n == 0 || head.type != COAP_CON || head.code != COAP_POST) {
        compute_take_back();
        return;
    }
    bool is_new = !any_answered || head.id != answered;
    bool is_right = is_filled(&options, sizeof RESOURCE - 1, '0', 10, LEDGER_REQUEST_BYTES);
    any_answered = true;
    answered = head.id;
    head.type = COAP_ACK;
    head.code = is_right ? COAP_CHANGED : COAP_BAD_REQUEST;
    if (is_new)
        compute_begin();
    else
        compute_take_back();
    coap_write_head(&to, &head);
    fill(&to, 'A', 26, LEDGER_RESPONSE_BYTES);
    size_t length = dtls13_send(&tls, out, message, (size_t)(to.at - message));
    if (is_new)
        compute_end();
    if (length > 0 && !to.overflow)
        send(length);
}

/* Takes a datagram of the client's. */
static void take_datagram(void) {
    if (dtls13_is_connected(&tls) && is_of_epoch(3)) {
        dtls13_bytes data;
        compute_begin();
        dtls13_event event = take(&data);
        compute_end();
        if (event == DTLS13_DATA)
            answer(&data);
        else
            compute_take_back();
        return;
    }
    bool is_new = is_plain() ? !has_answered : has_answered && !dtls13_is_connected(&tls);
    if (take_step(is_new) == DTLS13_CONNECTED)
        say_key();
}

int main(void) {
    hal_init();
    if (!udp_init(LEDGER_MOTE)) {
        console_text("no radio\n");
        return 1;
    }
    dtls13_start(&tls, &CONFIG, DTLS13_SERVER_ROLE);
    for (;;) {
        uint32_t wait = dtls13_wait_ms(&tls);
        udp_timer timer = udp_timer_of(wait > 0 ? wait : GIVE_UP_MS);
        if (udp_hear(&timer, &in)) {
            if (peer == 0)
                peer = in.from;
            if (is_from_peer())
                take_datagram();
        } else if (wait > 0) {
            dtls13_expired(&tls);
            flush(dtls13_output(&tls, out));
        }
    }
}

#endif
