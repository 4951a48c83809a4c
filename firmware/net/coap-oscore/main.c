/* A client and a server with a security context that outlives power: requests and responses under
   OSCORE (RFC 8613), or under the pairwise mode of Group OSCORE (RFC 10021).

   Sequence numbers are reserved in flash, OSCORE_RESERVE at a time, before they are used (appendix
   B.1.1). A server does not know after a boot which numbers it has seen: it answers the first
   request with the Echo option, and takes requests from the one on that returns its value
   (appendix B.1.2). The marker is high, and the radio off, while a side computes. */
#include "boots.h"
#include "coap-exchange.h"
#include "keys.h"

static const uint8_t RESOURCE[] = "s";

static oscore_ctx security;

static bool reserve(uint32_t end) {
    if (end > BOOTS_FLOOR_MAX)
        return false;
    boots_raise_floor(end);
    return true;
}

/* Derives the context and continues it. */
static bool begin_security(void) {
    compute_begin();
    bool is_good = derive_keys(&security, LEDGER_PEER != 0);
    oscore_resume(&security, boots_floor(), reserve);
    compute_end();
    const uint8_t *key = LEDGER_PEER != 0 ? security.sender_key : security.recipient_key;
    console_text("key ");
    for (uint8_t i = 0; i < OSCORE_KEY_BYTES; i++)
        console_hex(key[i], 2);
    console_text("\n");
    return is_good;
}

#if LEDGER_PEER != 0

static uint8_t echo[OSCORE_ECHO_BYTES];

/* Makes a request; `is_echoed`: with the Echo option's value. Returns the response's code, or 0. */
static uint8_t request_once(bool is_echoed) {
    coap_head head;
    coap_reader answer;
    coap_option option;
    coap_next next;
    coap_writer to;
    oscore_request sent;
    bool has_echo = false;
    compute_begin();
    begin_request(&to, plain, sizeof plain);
    coap_write(&to, COAP_URI_PATH, RESOURCE, sizeof RESOURCE - 1);
    if (is_echoed)
        coap_write(&to, COAP_ECHO, echo, sizeof echo);
    fill(&to, '0', 10, LEDGER_REQUEST_BYTES);
    out_length = sizeof out;
    oscore_status status =
        oscore_protect_request(&security, plain, (size_t)(to.at - plain), out, &out_length, &sent);
    compute_end();
    if (status != OSCORE_OK || to.overflow || exchange(&head, &answer) != COAP_CHANGED)
        return 0;
    compute_begin();
    plain_length = sizeof plain;
    status = oscore_open_response(&security, in.bytes, in.length, plain, &plain_length, &sent);
    compute_end();
    size_t n = status == OSCORE_OK ? coap_read_head(plain, plain_length, &head) : 0;
    answer = (coap_reader){plain + n, plain_length - n, 0};
    while ((next = coap_read(&answer, &option)) == COAP_OPTION)
        if (option.number == COAP_ECHO && option.length == sizeof echo) {
            has_echo = true;
            for (uint8_t i = 0; i < sizeof echo; i++)
                echo[i] = option.value[i];
        }
    if (n == 0 || next == COAP_MALFORMED)
        return 0;
    if (head.code == COAP_UNAUTHORIZED)
        return has_echo ? COAP_UNAUTHORIZED : 0;
    return is_filled(&answer, 'A', 26, LEDGER_RESPONSE_BYTES) ? head.code : 0;
}

static bool request(void) {
    uint8_t code = request_once(false);
    if (code == COAP_UNAUTHORIZED)
        code = request_once(true);
    return code == COAP_CHANGED;
}

int main(void) {
    hal_init();
    if (!udp_init(LEDGER_MOTE)) {
        console_text("no radio\n");
        return 1;
    }
    bool is_good = begin_security();
    /* Numbers of messages go on, too: a server remembers those of before the reboot. */
    message_id = (uint16_t)security.sequence;
    for (uint16_t i = 0; is_good && i < LEDGER_RECORDS; i++)
        is_good = request();
    console_text(is_good ? "done\n" : "failed\n");
    for (;;) {
        udp_rest(OSCORE_PERIOD_MS > 0 ? OSCORE_PERIOD_MS : 60000);
        if (OSCORE_PERIOD_MS > 0)
            console_text(request() ? "answered\n" : "not answered\n");
    }
}

#else

static bool is_ready;

/* Makes the response to a request that was opened, or to one that may be old. */
static void respond(const coap_head *request, const oscore_request *bound, bool is_stale) {
    coap_head head;
    coap_option option;
    coap_writer to;
    size_t n = coap_read_head(plain, plain_length, &head);
    coap_reader options = {plain + n, plain_length - n, 0};
    bool is_there = false;
    while (coap_read(&options, &option) == COAP_OPTION)
        if (option.number == COAP_URI_PATH)
            is_there = option.length == 1 && option.value[0] == RESOURCE[0];
    uint8_t code = is_there ? COAP_CHANGED : COAP_NOT_FOUND;
    if (is_there && !is_filled(&options, '0', 10, LEDGER_REQUEST_BYTES))
        code = COAP_BAD_REQUEST;
    compute_begin();
    begin_answer(&to, plain, sizeof plain, request, is_stale ? COAP_UNAUTHORIZED : code);
    if (is_stale) {
        uint8_t value[OSCORE_ECHO_BYTES];
        for (uint8_t i = 0; i < sizeof value; i++)
            value[i] = (uint8_t)(security.echo >> (24 - 8 * i));
        coap_write(&to, COAP_ECHO, value, sizeof value);
    } else {
        fill(&to, 'A', 26, LEDGER_RESPONSE_BYTES);
    }
    out_length = sizeof out;
    oscore_status status = oscore_protect_response(&security, plain, (size_t)(to.at - plain), out,
                                                   &out_length, bound, is_stale);
    compute_end();
    if (status != OSCORE_OK)
        answer_code(request, COAP_UNAUTHORIZED);
}

static void say_taken(const oscore_request *bound) {
    console_text("took ");
    for (uint8_t i = 0; i < bound->piv_length; i++)
        console_hex(bound->piv[i], 2);
    console_text("\n");
}

/* Makes the response to what was received, if it is a request. */
static bool answer(void) {
    static const uint8_t codes[] = {
        [OSCORE_MALFORMED] = COAP_BAD_OPTION,  [OSCORE_UNKNOWN] = COAP_UNAUTHORIZED,
        [OSCORE_REPLAYED] = COAP_UNAUTHORIZED, [OSCORE_FORGED] = COAP_BAD_REQUEST,
        [OSCORE_NO_ROOM] = COAP_BAD_REQUEST,   [OSCORE_EXHAUSTED] = COAP_UNAUTHORIZED};
    coap_head head;
    oscore_request bound;
    if (coap_read_head(in.bytes, in.length, &head) == 0 || head.type != COAP_CON ||
        head.code != COAP_POST)
        return false;
    uint8_t ago = answered_ago(head.id);
    if (ago < ANSWERED)
        return ago == 0;
    remember(head.id);
    /* At the first request: nothing may come. */
    if (!is_ready && !(is_ready = begin_security()))
        return false;
    plain_length = sizeof plain;
    compute_begin();
    oscore_status status =
        oscore_open_request(&security, in.bytes, in.length, plain, &plain_length, &bound);
    compute_end();
    if (status != OSCORE_OK && status != OSCORE_STALE) {
        answer_code(&head, codes[status]);
        return true;
    }
    if (OSCORE_PERIOD_MS > 0 && status == OSCORE_OK)
        say_taken(&bound);
    respond(&head, &bound, status == OSCORE_STALE);
    return true;
}

int main(void) {
    hal_init();
    if (!udp_init(LEDGER_MOTE)) {
        console_text("no radio\n");
        return 1;
    }
    for (;;) {
        udp_timer timer = udp_timer_of(60000);
        while (udp_hear(&timer, &in))
            if (in.to_port == SERVER_PORT && answer())
                udp_send(in.from, SERVER_PORT, in.from_port, out, (uint16_t)out_length);
    }
}

#endif
