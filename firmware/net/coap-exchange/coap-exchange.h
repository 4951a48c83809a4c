/* Exchanges of CoAP between one client and a server: requests are confirmable and are sent again as
   RFC 7252, section 4.2, says; responses are piggybacked on acknowledgements, and a repeated
   request gets the same response. One program includes this, once. */
#ifndef COAP_EXCHANGE_H
#define COAP_EXCHANGE_H

#include "coap.h"
#include "console.h"
#include "hal.h"
#include "udp.h"

enum { CLIENT_PORT = 0xf0b1, SERVER_PORT = 5683, MAX_RETRANSMIT = 4 /* RFC 7252, section 4.8 */ };

static udp_datagram in;
static uint8_t out[UDP_BYTES_MAX], plain[UDP_BYTES_MAX];
static size_t out_length, plain_length;

/* The radio is off while a side computes: nothing is received. */
static void compute_begin(void) {
    radio_sleep();
    hal_marker_high();
}

static void compute_end(void) {
    hal_marker_low();
    radio_wake();
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

static bool is_filled(const coap_reader *payload, char first, uint8_t period, uint16_t length) {
    bool is_right = payload->left == length;
    for (uint16_t i = 0; is_right && i < length; i++)
        is_right = payload->at[i] == first + i % period;
    return is_right;
}

#if LEDGER_PEER != 0

static uint16_t message_id;
static uint16_t chance = LEDGER_MOTE * 40503u | 1u;

/* Begins a confirmable request: its number is its token, too. */
static void begin_request(coap_writer *to, uint8_t *bytes, size_t room) {
    *to = (coap_writer){.at = bytes, .room = room};
    message_id++;
    coap_write_head(to, &(coap_head){.type = COAP_CON,
                                     .code = COAP_POST,
                                     .token_length = 1,
                                     .id = message_id,
                                     .token = {(uint8_t)message_id}});
}

/* Marsaglia, Xorshift RNGs (2003), 16 bits, with the triple (7, 9, 8). */
static uint16_t next_chance(void) {
    chance ^= (uint16_t)(chance << 7);
    chance ^= chance >> 9;
    chance ^= (uint16_t)(chance << 8);
    return chance;
}

/* Sends the request until its response comes; returns the response's code, or 0. */
static uint8_t exchange(coap_head *head, coap_reader *options) {
    /* Between ACK_TIMEOUT and half as much again (RFC 7252, section 4.2). */
    uint32_t ms = COAP_ACK_TIMEOUT_MS + ((uint32_t)next_chance() * (COAP_ACK_TIMEOUT_MS / 2) >> 16);
    for (uint8_t tries = 0; tries <= MAX_RETRANSMIT; tries++, ms *= 2) {
        udp_send(LEDGER_PEER, CLIENT_PORT, SERVER_PORT, out, (uint16_t)out_length);
        udp_timer timer = udp_timer_of(ms);
        while (udp_hear(&timer, &in)) {
            size_t n = coap_read_head(in.bytes, in.length, head);
            if (n == 0 || in.from != LEDGER_PEER || in.from_port != SERVER_PORT ||
                in.to_port != CLIENT_PORT || head->type != COAP_ACK || head->id != message_id ||
                head->token_length != 1 || head->token[0] != (uint8_t)message_id)
                continue;
            *options = (coap_reader){in.bytes + n, in.length - n, 0};
            return head->code;
        }
    }
    console_text("no answer\n");
    return 0;
}

#else

/* The numbers of the last requests, the newest first; `out` has the response to that one. */
enum { ANSWERED = 8 };
static uint16_t answered_from, answered_ids[ANSWERED];
static uint8_t answered;

/* Returns how many requests ago one with this number was answered, or ANSWERED. */
static uint8_t answered_ago(uint16_t id) {
    uint8_t ago = 0;
    while (ago < answered && answered_ids[ago] != id)
        ago++;
    return ago < answered && answered_from == in.from ? ago : ANSWERED;
}

static void remember(uint16_t id) {
    answered = answered_from != in.from ? 1 : answered < ANSWERED ? answered + 1 : ANSWERED;
    for (uint8_t i = answered; --i > 0;)
        answered_ids[i] = answered_ids[i - 1];
    answered_ids[0] = id;
    answered_from = in.from;
}

/* Begins the response to a request, of which it takes number and token. */
static void begin_answer(coap_writer *to, uint8_t *bytes, size_t room, const coap_head *request,
                         uint8_t code) {
    coap_head head = *request;
    head.type = COAP_ACK;
    head.code = code;
    *to = (coap_writer){.at = bytes, .room = room};
    coap_write_head(to, &head);
}

static void answer_code(const coap_head *request, uint8_t code) {
    coap_writer to;
    begin_answer(&to, out, sizeof out, request, code);
    out_length = (size_t)(to.at - out);
}

#endif

#endif
