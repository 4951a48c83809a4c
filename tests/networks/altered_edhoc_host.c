/* EDHOC with OSCORE's keys behind it on this machine, under an attacker: beside each right message
   altered, replayed, misplaced and cut ones. What is no message of the other side's in this session
   must not be taken.

     altered_edhoc_host SEED SESSIONS COUNT

   COUNT altered ones go beside each message, a tenth of that where they cost curves. Each is read
   by a copy of the receiver's state, since EDHOC ends a session with the first message that it
   refuses (RFC 9528, section 6); OSCORE's right messages follow in the same state, once in order
   and once not, and are not taken a second time. Prints how many of each there were. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oscore.h"
#include "party.h"

enum { ROOM = 512, MESSAGES = 4, RECORDS = 4, WAYS = 11 };

static uint64_t state;

static uint64_t next_random(void) { /* splitmix64 */
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static size_t below(size_t bound) {
    return (size_t)(next_random() % bound);
}

static void random_bytes(uint8_t *out, size_t length) {
    for (size_t i = 0; i < length; i++)
        out[i] = (uint8_t)next_random();
}

static void require(int condition, const char *what) {
    if (!condition) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

/* A block of the exact size, so that AddressSanitizer sees every access beyond it. */
static uint8_t *exactly(const uint8_t *bytes, size_t length) {
    uint8_t *block = malloc(length + !length);
    require(block != NULL, "no memory");
    memcpy(block, bytes, length);
    return block;
}

typedef struct {
    uint8_t bytes[ROOM];
    size_t length;
} text;

/* The messages of this session and of the one before. */
static text sent[MESSAGES + 2 * RECORDS], before[MESSAGES + 2 * RECORDS];
static text earlier;
static unsigned long altered[MESSAGES + 2], by_way[WAYS];

/* Makes a wrong message out of the right one. Returns false if it is the right one after all. */
static bool alter(unsigned number, unsigned there, text *out) {
    const text *right = &sent[number];
    *out = *right;
    size_t at = below(right->length);
    unsigned way = (unsigned)below(WAYS);
    switch (way) {
    case 0: /* its begin */
        out->length = at;
        break;
    case 1: /* its end: a fragment without the first */
        out->length = right->length - at;
        memmove(out->bytes, right->bytes + at, out->length);
        break;
    case 2:
        out->bytes[at] = (uint8_t)next_random();
        break;
    case 3: /* a part of one that was altered before */
        for (size_t i = at; i < right->length && i - at < earlier.length; i++)
            out->bytes[i] = earlier.bytes[i - at];
        break;
    case 4: { /* more at its end */
        size_t more = 1 + below(40);
        random_bytes(out->bytes + right->length, more);
        out->length += more;
        break;
    }
    case 5: /* a byte less within */
        memmove(out->bytes + at, out->bytes + at + 1, right->length - at - 1);
        out->length--;
        break;
    case 6: /* lengths and types near the front */
        out->bytes[below(right->length < 8 ? right->length : 8)] ^= (uint8_t)(1u << below(8));
        break;
    case 7: /* the same of the session before */
        *out = before[number];
        break;
    case 8: /* another one, of this session or the one before */
        *out = there > 0 && below(2) ? sent[below(there)] : before[below(MESSAGES + 2 * RECORDS)];
        break;
    case 9: /* the begin of this and the end of the one before, as fragments that are mixed up */
        for (size_t i = at; i < before[number].length; i++)
            out->bytes[i] = before[number].bytes[i];
        if (before[number].length > at)
            out->length = before[number].length;
        break;
    default:
        out->bytes[at] ^= (uint8_t)(1u << below(8));
    }
    earlier = *right;
    bool is_other =
        out->length != right->length || memcmp(out->bytes, right->bytes, right->length) != 0;
    by_way[way] += is_other;
    return is_other;
}

static handshake initiator, responder;
static HANDSHAKE(ctx) i_ctx, r_ctx;

/* Gives a copy of the receiver's state a message; returns whether it is taken, with its answer. */
static bool takes(unsigned number, const text *message, HANDSHAKE(ctx) * ctx, text *answer) {
    uint8_t *in = exactly(message->bytes, message->length), *out = malloc(ROOM);
    handshake_bytes heard = {in, message->length}, said = {out, ROOM};
    crypto_status status;
    switch (number) {
    case 0:
        status = HANDSHAKE(message_2)(ctx, &responder, &heard, &said);
        break;
    case 1:
        status = HANDSHAKE(message_3)(ctx, &initiator, &heard, &said);
        break;
    case 2:
        status = HANDSHAKE(finish)(ctx, &responder, &heard);
        said.length = 0;
        break;
    default:
        status = HANDSHAKE(confirm)(ctx, &initiator, &heard);
        said.length = 0;
    }
    if (status == CRYPTO_OK && answer != NULL) {
        answer->length = said.length;
        memcpy(answer->bytes, out, said.length);
    }
    free(in);
    free(out);
    return status == CRYPTO_OK;
}

static void attack(unsigned number, HANDSHAKE(ctx) * receiver, unsigned long count) {
    for (unsigned long k = 0; k < count; k++) {
        text wrong, answer;
        HANDSHAKE(ctx) copy = *receiver;
        if (!alter(number, number, &wrong))
            continue;
        altered[number]++;
        if (!takes(number, &wrong, &copy, &answer))
            continue;
        /* Anybody may have written message 1: its answer tells the initiator. */
        require(number == 0, "an altered message is taken");
        HANDSHAKE(ctx) other = i_ctx;
        require(!takes(1, &answer, &other, NULL), "the answer to an altered message 1 is taken");
    }
}

/* ---- OSCORE ---- */

static oscore_ctx client, server;

static void derive(HANDSHAKE(ctx) * session, bool is_client) {
    static const oscore_id ids[] = {{.length = 1, .bytes = {0}}, {.length = 1, .bytes = {1}}};
    uint8_t secret[OSCORE_KEY_BYTES], salt[8];
    HANDSHAKE(export)(session, 0, NULL, 0, secret, sizeof secret);
    HANDSHAKE(export)(session, 1, NULL, 0, salt, sizeof salt);
    oscore_init(is_client ? &client : &server, secret, salt, sizeof salt, &ids[is_client],
                &ids[!is_client], NULL);
}

/* A message as it goes to OSCORE: a head of four bytes with a token of two, an option, data. */
static size_t plain_of(unsigned number, bool is_request, uint8_t *out) {
    static const uint8_t head[] = {0x42, COAP_POST, 0, 0, 1, 2, 0xb1, 's', 0xff};
    memcpy(out, head, sizeof head);
    out[3] = (uint8_t)number;
    if (!is_request) {
        out[0] = 0x62;
        out[1] = COAP_CHANGED;
        memmove(out + 6, out + 8, 1);
    }
    size_t at = is_request ? sizeof head : sizeof head - 2;
    for (unsigned i = 0; i < 5 + 7 * number; i++)
        out[at + i] = (uint8_t)(i * 7 + number);
    return at + 5 + 7 * number;
}

/* Returns whether it opens; then it must say what was said: type, number and token are not
   protected (RFC 8613, section 4.2), all else is. */
static bool opens(oscore_ctx *ctx, const text *message, unsigned number, bool is_request,
                  oscore_request *bound) {
    uint8_t *in = exactly(message->bytes, message->length), *out = malloc(ROOM), right[ROOM];
    size_t room = ROOM;
    oscore_status status = is_request
                               ? oscore_open_request(ctx, in, message->length, out, &room, bound)
                               : oscore_open_response(ctx, in, message->length, out, &room, bound);
    if (status == OSCORE_OK) {
        coap_head head;
        size_t n = coap_read_head(out, room, &head), length = plain_of(number, is_request, right);
        require(n > 0 && head.code == right[1] && room - n == length - 6 &&
                    memcmp(out + n, right + 6, room - n) == 0,
                "what was never said opens");
    }
    free(in);
    free(out);
    return status == OSCORE_OK;
}

static unsigned long alike;

static void attack_record(unsigned place, unsigned number, bool is_request, oscore_request *bound,
                          unsigned long count) {
    oscore_ctx *receiver = is_request ? &server : &client;
    for (unsigned long k = 0; k < count; k++) {
        text wrong;
        oscore_ctx copy = *receiver;
        oscore_request to = is_request ? (oscore_request){0} : *bound;
        if (!alter(place, MESSAGES, &wrong))
            continue;
        altered[MESSAGES + !is_request]++;
        /* The right message behind another type, number or token says the same. */
        bool is_taken = opens(&copy, &wrong, number, is_request, &to);
        alike += is_taken;
        if (!is_taken) /* a refusal changes nothing */
            require(memcmp(&copy, receiver, sizeof copy) == 0, "a refusal changes the context");
    }
}

static void protect(unsigned place, unsigned number, bool is_request, oscore_request *bound) {
    uint8_t plain[ROOM];
    size_t length = plain_of(number, is_request, plain);
    sent[place].length = ROOM;
    oscore_status status = is_request
                               ? oscore_protect_request(&client, plain, length, sent[place].bytes,
                                                        &sent[place].length, bound)
                               : oscore_protect_response(&server, plain, length, sent[place].bytes,
                                                         &sent[place].length, bound, false);
    require(status == OSCORE_OK, "nothing is protected");
}

static void records(unsigned long count) {
    oscore_request asked[RECORDS], heard[RECORDS];
    for (unsigned n = 0; n < RECORDS; n++)
        protect(MESSAGES + n, n, true, &asked[n]);
    /* The second comes before the first. */
    static const unsigned ORDER[RECORDS] = {1, 0, 2, 3};
    for (unsigned k = 0; k < RECORDS; k++) {
        unsigned n = ORDER[k], place = MESSAGES + n;
        attack_record(place, n, true, NULL, count);
        require(opens(&server, &sent[place], n, true, &heard[n]), "a right request is refused");
        oscore_ctx copy = server;
        for (unsigned j = 0; j <= k; j++) {
            oscore_request again = {0};
            unsigned old = ORDER[j];
            require(!opens(&copy, &sent[MESSAGES + old], old, true, &again), "taken twice");
        }
    }
    for (unsigned n = 0; n < RECORDS; n++) {
        unsigned place = MESSAGES + RECORDS + n;
        protect(place, n, false, &heard[n]);
        attack_record(place, n, false, &asked[n], count);
        oscore_request *other = &asked[(n + 1) % RECORDS];
        require(!opens(&client, &sent[place], n, false, other), "an answer to another request");
        require(opens(&client, &sent[place], n, false, &asked[n]), "a right response is refused");
    }
}

/* ---- Sessions ---- */

static void session(unsigned long count) {
    static uint8_t secrets[2][32];
    uint8_t keys[2][SESSION_KEY_BYTES];
    random_bytes(secrets[0], sizeof secrets);
    secrets[0][0] &= 0x7f, secrets[1][0] &= 0x7f; /* below P-256's order */
    initiator.own.ephemeral = secrets[0];
    responder.own.ephemeral = secrets[1];
    memset(&i_ctx, 0, sizeof i_ctx);
    memset(&r_ctx, 0, sizeof r_ctx);
    handshake_bytes first = {sent[0].bytes, ROOM};
    require(HANDSHAKE(message_1)(&i_ctx, &initiator, &first) == CRYPTO_OK, "no message 1");
    sent[0].length = first.length;
    attack(0, &r_ctx, count / 10);
    require(takes(0, &sent[0], &r_ctx, &sent[1]), "message 1 is refused");
    attack(1, &i_ctx, count / 10);
    require(takes(1, &sent[1], &i_ctx, &sent[2]), "message 2 is refused");
    attack(2, &r_ctx, count);
    require(takes(2, &sent[2], &r_ctx, NULL), "message 3 is refused");
    handshake_bytes last = {sent[3].bytes, ROOM};
    require(HANDSHAKE(message_4)(&r_ctx, &responder, &last) == CRYPTO_OK, "no message 4");
    sent[3].length = last.length;
    attack(3, &i_ctx, count);
    require(takes(3, &sent[3], &i_ctx, NULL), "message 4 is refused");
    HANDSHAKE(key)(&i_ctx, keys[0]);
    HANDSHAKE(key)(&r_ctx, keys[1]);
    require(memcmp(keys[0], keys[1], SESSION_KEY_BYTES) == 0, "two keys");
    derive(&i_ctx, true);
    derive(&r_ctx, false);
    records(count / 4);
    memcpy(before, sent, sizeof before);
}

int main(int argc, char **argv) {
    require(argc == 4, "SEED SESSIONS COUNT");
    state = strtoull(argv[1], NULL, 10);
    party_of_initiator(&initiator);
    party_of_responder(&responder);
    session(0); /* which the first one's attacker has heard */
    unsigned long sessions = strtoul(argv[2], NULL, 10);
    for (unsigned long n = 0; n < sessions; n++)
        session(strtoul(argv[3], NULL, 10));
    printf("sessions %lu messages %lu %lu %lu %lu requests %lu responses %lu alike %lu ways",
           sessions, altered[0], altered[1], altered[2], altered[3], altered[4], altered[5], alike);
    for (unsigned way = 0; way < WAYS; way++)
        printf(" %lu", by_way[way]);
    printf("\n");
    return 0;
}
