/* A client and a server agree on keys with EDHOC over CoAP (RFC 9528, appendix A.2), and then
   exchange requests and responses under OSCORE (RFC 8613) with the keys that EDHOC exports
   (appendix A.1). Where EDHOC_COMBINED is 1, message 3 goes with the first request (RFC 9668).

   The marker is high, and the radio off, while a side computes. */
#include "boots.h"
#include "coap-exchange.h"
#include "oscore.h"
#include "party.h"
#include "sha256.h"

enum {
    CID_EDHOC_CBOR_SEQ = 65,
    EDHOC_CBOR_SEQ = 64, /* content formats (RFC 9528, section 10.10) */
    TRUE = 0xf5,
    SECRET_LABEL = 0,
    SALT_LABEL = 1,
    SALT_BYTES = 8
};

static const uint8_t WELL_KNOWN[] = ".well-known", EDHOC_PATH[] = "edhoc", RESOURCE[] = "s";

static HANDSHAKE(ctx) session;
static handshake party;
static oscore_ctx security;

/* The party's ephemeral secret is the same after each boot; where boots are counted, it is hashed
   with their number, so that no key comes again. It stays predictable, so that each byte on the air
   can be checked: a product must draw it from a random number generator. */
static void renew_ephemeral(void) {
    static uint8_t ephemeral[SECRET_BYTES];
    uint8_t number[] = {(uint8_t)boots_count(), (uint8_t)(boots_count() >> 8)};
    sha256_ctx hash;
    for (size_t i = 0; i < sizeof ephemeral; i++)
        ephemeral[i] = party.own.ephemeral[i];
    sha256_init(&hash);
    sha256_update(&hash, ephemeral, sizeof ephemeral);
    sha256_update(&hash, number, sizeof number);
    sha256_final(&hash, ephemeral);
    party.own.ephemeral = ephemeral;
}

static void say_key(void) {
    uint8_t key[SESSION_KEY_BYTES];
    HANDSHAKE(key)(&session, key);
    console_text("key ");
    for (uint8_t i = 0; i < sizeof key; i++)
        console_hex(key[i], 2);
    console_text("\n");
}

/* Derives the OSCORE context (RFC 9528, appendix A.1): a side sends under the identifier that the
   other side has chosen. Returns false if the peer's is too long, or the same as our own. */
static bool derive_security(void) {
    uint8_t secret[OSCORE_KEY_BYTES], salt[SALT_BYTES];
    oscore_id sender = {.length = session.connection_length}, recipient = {0};
    /* The identifier is the end of what a party's file has: an integer's byte, or a string. */
    const handshake_bytes *own = &party.own.connection;
    size_t suites = LEDGER_PEER != 0 ? cbor_suites(own->at, own->length) : 0;
    size_t head = own->length - suites > 1 ? suites + 1 : suites;
    if (sender.length > OSCORE_ID_BYTES_MAX || own->length - head > OSCORE_ID_BYTES_MAX)
        return false;
    recipient.length = (uint8_t)(own->length - head);
    for (uint8_t i = 0; i < sender.length; i++)
        sender.bytes[i] = session.connection[i];
    for (uint8_t i = 0; i < recipient.length; i++)
        recipient.bytes[i] = own->at[head + i];
    bool is_same = sender.length == recipient.length;
    for (uint8_t i = 0; is_same && i < sender.length; i++)
        is_same = sender.bytes[i] == recipient.bytes[i];
    if (is_same)
        return false;
    HANDSHAKE(export)(&session, SECRET_LABEL, NULL, 0, secret, sizeof secret);
    HANDSHAKE(export)(&session, SALT_LABEL, NULL, 0, salt, sizeof salt);
    oscore_init(&security, secret, salt, sizeof salt, &sender, &recipient, NULL);
    crypto_wipe(secret, sizeof secret);
    return true;
}

/* A content format above 0 is one byte here. */
static void write_format(coap_writer *to, uint8_t format) {
    coap_write(to, COAP_CONTENT_FORMAT, &format, 1);
}

#if EDHOC_MESSAGE_BYTES > 0

/* Messages that no datagram holds go in blocks of 1,024 bytes (RFC 7959), fewer than 16 of them. */
enum { SZX = 6, BLOCK_BYTES = 16 << SZX, MORE = 8 };

/* The message that is gathered or handed out. */
static uint8_t whole[EDHOC_MESSAGE_BYTES];
static size_t whole_length;

static size_t block_at(uint8_t block) {
    return (size_t)(block >> 4) * BLOCK_BYTES;
}

/* Returns the value of the option for a block of `whole`. */
static uint8_t block_of(uint8_t number) {
    uint8_t block = (uint8_t)(number << 4 | SZX);
    return block_at(block) + BLOCK_BYTES < whole_length ? block | MORE : block;
}

/* Writes the option, the marker and that block. */
static void write_block(coap_writer *to, uint16_t option, uint8_t block) {
    static const uint8_t marker = 0xff;
    size_t left = whole_length - block_at(block);
    coap_write(to, option, &block, 1);
    coap_write_bytes(to, &marker, 1);
    coap_write_bytes(to, whole + block_at(block), left < BLOCK_BYTES ? left : BLOCK_BYTES);
}

/* Adds a block to `whole`; returns false if it is not the next one, or too much. */
static bool gather(uint8_t block, const coap_reader *payload) {
    if ((block & 7) != SZX || (block >> 4 > 0 && block_at(block) != whole_length) ||
        (block & MORE && payload->left != BLOCK_BYTES) ||
        block_at(block) + payload->left > sizeof whole)
        return false;
    for (size_t i = 0; i < payload->left; i++)
        whole[block_at(block) + i] = payload->at[i];
    whole_length = block_at(block) + payload->left;
    return true;
}

#endif

/* After a handshake's function has written a message at the writer's end. */
static void advance(coap_writer *to, const handshake_bytes *message) {
    to->at += message->length;
    to->room -= message->length;
}

static handshake_bytes room_of(const coap_writer *to) {
    return (handshake_bytes){to->at, to->room};
}

#if LEDGER_PEER != 0

static void begin_path(coap_writer *to) {
    begin_request(to, out, sizeof out);
    coap_write(to, COAP_URI_PATH, WELL_KNOWN, sizeof WELL_KNOWN - 1);
    coap_write(to, COAP_URI_PATH, EDHOC_PATH, sizeof EDHOC_PATH - 1);
}

/* Begins a request to /.well-known/edhoc, up to the marker (RFC 9528, appendix A.2.1). */
static void begin_edhoc(coap_writer *to) {
    static const uint8_t marker = 0xff;
    begin_path(to);
    write_format(to, CID_EDHOC_CBOR_SEQ);
    coap_write_bytes(to, &marker, 1);
}

/* Moves a reader to the payload; returns false if an option is malformed. */
static bool skip_options(coap_reader *options) {
    coap_option option;
    coap_next next;
    do
        next = coap_read(options, &option);
    while (next == COAP_OPTION);
    return next == COAP_END;
}

static uint8_t message_3[EDHOC_PLAINTEXT_BYTES];
static size_t message_3_length;

#if EDHOC_MESSAGE_BYTES > 0

/* Gathers what a response begins, and asks for the rest of it. */
static bool collect(coap_reader *answer) {
    coap_head head;
    coap_writer to;
    for (uint8_t number = 0;; number++) {
        coap_option option;
        coap_next next;
        uint8_t block = SZX;
        while ((next = coap_read(answer, &option)) == COAP_OPTION)
            if (option.number == COAP_BLOCK2)
                block = option.length == 1 ? option.value[0] : option.length == 0 ? 0 : 0xff;
        if (next != COAP_END || block >> 4 != number || !gather(block, answer))
            return false;
        if (!(block & MORE))
            return true;
        block = (uint8_t)((number + 1) << 4 | SZX);
        begin_path(&to);
        coap_write(&to, COAP_BLOCK2, &block, 1);
        out_length = (size_t)(to.at - out);
        if (exchange(&head, answer) != COAP_CHANGED)
            return false;
    }
}

/* Sends `whole`. */
static bool hand_out(void) {
    coap_head head;
    coap_reader answer;
    coap_writer to;
    uint8_t block;
    for (uint8_t number = 0;; number++) {
        block = block_of(number);
        begin_path(&to);
        write_format(&to, CID_EDHOC_CBOR_SEQ);
        write_block(&to, COAP_BLOCK1, block);
        out_length = (size_t)(to.at - out);
        uint8_t code = exchange(&head, &answer);
        if (to.overflow || code != (block & MORE ? COAP_CONTINUE : COAP_CHANGED))
            return false;
        if (!(block & MORE))
            return true;
    }
}

#endif

/* Messages 1 to 3 or, where 3 goes with the first request, 1 and 2. */
static bool agree(void) {
    coap_head head;
    coap_reader answer;
    coap_writer to;
    uint8_t byte = TRUE;
    compute_begin();
    begin_edhoc(&to);
    coap_write_bytes(&to, &byte, 1);
    handshake_bytes message = room_of(&to);
    crypto_status status = HANDSHAKE(message_1)(&session, &party, &message);
    compute_end();
    advance(&to, &message);
    out_length = (size_t)(to.at - out);
    if (status != CRYPTO_OK || exchange(&head, &answer) != COAP_CHANGED)
        return false;
#if EDHOC_MESSAGE_BYTES > 0
    if (!collect(&answer))
        return false;
    handshake_bytes heard = {whole, whole_length};
#else
    if (!skip_options(&answer))
        return false;
    handshake_bytes heard = {in.bytes + (answer.at - in.bytes), answer.left};
#endif
    message = (handshake_bytes){message_3, sizeof message_3};
    compute_begin();
    status = HANDSHAKE(message_3)(&session, &party, &heard, &message);
    bool is_done = status == CRYPTO_OK && derive_security();
    compute_end();
    message_3_length = message.length;
    if (!is_done)
        return false;
    say_key();
    if (EDHOC_COMBINED)
        return true;
#if EDHOC_MESSAGE_BYTES > 0
    to = (coap_writer){.at = whole, .room = sizeof whole};
#else
    begin_edhoc(&to);
#endif
    /* C_R in front, as it is in the messages (RFC 9528, section 3.3.2). */
    byte = CBOR_BYTES | session.connection_length;
    const handshake_bytes *id = &(handshake_bytes){session.connection, session.connection_length};
    if (id->length != 1 || (id->at[0] & ~0x20) >= 24)
        coap_write_bytes(&to, &byte, 1);
    coap_write_bytes(&to, id->at, id->length);
    coap_write_bytes(&to, message_3, message_3_length);
#if EDHOC_MESSAGE_BYTES > 0
    whole_length = (size_t)(to.at - whole);
    return !to.overflow && hand_out();
#else
    out_length = (size_t)(to.at - out);
    return !to.overflow && exchange(&head, &answer) == COAP_CHANGED;
#endif
}

/* Puts message 3 in front of the protected request's payload (RFC 9668, section 3.2.1). */
static bool combine(void) {
    coap_head head;
    size_t n = coap_read_head(out, out_length, &head);
    coap_reader options = {out + n, out_length - n, 0};
    if (!skip_options(&options) || out_length + message_3_length > sizeof out)
        return false;
    uint8_t *payload = out + (options.at - out);
    for (size_t i = options.left; i-- > 0;)
        payload[i + message_3_length] = payload[i];
    for (size_t i = 0; i < message_3_length; i++)
        payload[i] = message_3[i];
    out_length += message_3_length;
    return true;
}

static bool request(bool is_first) {
    coap_head head;
    coap_reader answer;
    coap_writer to;
    oscore_request sent;
    bool is_combined = EDHOC_COMBINED && is_first;
    compute_begin();
    begin_request(&to, plain, sizeof plain);
    coap_write(&to, COAP_URI_PATH, RESOURCE, sizeof RESOURCE - 1);
    if (is_combined)
        coap_write(&to, COAP_EDHOC, NULL, 0);
    fill(&to, '0', 10, LEDGER_REQUEST_BYTES);
    out_length = sizeof out;
    oscore_status status =
        oscore_protect_request(&security, plain, (size_t)(to.at - plain), out, &out_length, &sent);
    bool is_made = status == OSCORE_OK && !to.overflow && (!is_combined || combine());
    compute_end();
    if (!is_made || exchange(&head, &answer) != COAP_CHANGED)
        return false;
    compute_begin();
    plain_length = sizeof plain;
    status = oscore_open_response(&security, in.bytes, in.length, plain, &plain_length, &sent);
    compute_end();
    size_t n = status == OSCORE_OK ? coap_read_head(plain, plain_length, &head) : 0;
    answer = (coap_reader){plain + n, plain_length - n, 0};
    return n > 0 && skip_options(&answer) && is_filled(&answer, 'A', 26, LEDGER_RESPONSE_BYTES);
}

int main(void) {
    hal_init();
    party_of_initiator(&party);
    if (BOOTS_MAX > 0)
        renew_ephemeral();
    if (!udp_init(LEDGER_MOTE)) {
        console_text("no radio\n");
        return 1;
    }
    bool is_good = agree();
    for (uint16_t i = 0; is_good && i < LEDGER_RECORDS; i++)
        is_good = request(i == 0);
    console_text(is_good ? "done\n" : "failed\n");
    for (;;)
        udp_rest(60000);
}

#else

static bool is_open, is_secured;

/* An error message of EDHOC (RFC 9528, appendix A.2.3). */
static void answer_error(const coap_head *request) {
    static const uint8_t marker = 0xff;
    coap_writer to;
    begin_answer(&to, out, sizeof out, request, COAP_BAD_REQUEST);
    write_format(&to, EDHOC_CBOR_SEQ);
    coap_write_bytes(&to, &marker, 1);
    handshake_bytes error = room_of(&to);
    HANDSHAKE(error)(&session, &error);
    advance(&to, &error);
    out_length = (size_t)(to.at - out);
    is_open = false;
}

#if EDHOC_MESSAGE_BYTES > 0

/* Answers with a block of message 2. */
static void answer_block(const coap_head *request, uint8_t number) {
    coap_writer to;
    begin_answer(&to, out, sizeof out, request, COAP_CHANGED);
    write_format(&to, EDHOC_CBOR_SEQ);
    write_block(&to, COAP_BLOCK2, block_of(number));
    out_length = (size_t)(to.at - out);
}

static void take_1(const coap_head *request, const uint8_t *at, size_t length) {
    handshake_bytes message = {(uint8_t *)at, length}, answer = {whole, sizeof whole};
    compute_begin();
    is_open = HANDSHAKE(message_2)(&session, &party, &message, &answer) == CRYPTO_OK;
    compute_end();
    whole_length = answer.length;
    if (is_open)
        answer_block(request, 0);
    else
        answer_error(request);
}

#else

static void take_1(const coap_head *request, const uint8_t *at, size_t length) {
    static const uint8_t marker = 0xff;
    coap_writer to;
    handshake_bytes message = {(uint8_t *)at, length};
    compute_begin();
    begin_answer(&to, out, sizeof out, request, COAP_CHANGED);
    write_format(&to, EDHOC_CBOR_SEQ);
    coap_write_bytes(&to, &marker, 1);
    handshake_bytes answer = room_of(&to);
    is_open = HANDSHAKE(message_2)(&session, &party, &message, &answer) == CRYPTO_OK;
    compute_end();
    advance(&to, &answer);
    out_length = (size_t)(to.at - out);
    if (!is_open)
        answer_error(request);
}

#endif

static bool take_3(const uint8_t *at, size_t length) {
    handshake_bytes message = {(uint8_t *)at, length};
    if (!is_open) {
        session.error = EDHOC_UNSPECIFIED;
        return false;
    }
    is_open = false;
    compute_begin();
    is_secured = HANDSHAKE(finish)(&session, &party, &message) == CRYPTO_OK && derive_security();
    compute_end();
    if (is_secured)
        say_key();
    return is_secured;
}

/* A request to /.well-known/edhoc: `true` and message 1, or C_R and message 3. */
static void take_edhoc(const coap_head *request, const coap_reader *payload) {
    const handshake_bytes *own = &party.own.connection;
    if (payload->left > 1 && payload->at[0] == TRUE) {
        take_1(request, payload->at + 1, payload->left - 1);
        return;
    }
    bool is_ours = payload->left > own->length;
    for (size_t i = 0; is_ours && i < own->length; i++)
        is_ours = payload->at[i] == own->at[i];
    if (!is_ours)
        answer_code(request, COAP_BAD_REQUEST);
    else if (take_3(payload->at + own->length, payload->left - own->length))
        answer_code(request, COAP_CHANGED);
    else
        answer_error(request);
}

#if EDHOC_MESSAGE_BYTES > 0

/* What a request says of blocks; the options are absent where they are NO_BLOCK, which no block of
   ours is. */
enum { NO_BLOCK = 7 };
static uint8_t block_1, block_2;

static void note_block(const coap_option *option) {
    uint8_t value = option->length == 1 ? option->value[0] : option->length == 0 ? 0 : 0xff;
    if (option->number == COAP_BLOCK1)
        block_1 = value;
    if (option->number == COAP_BLOCK2)
        block_2 = value;
}

/* A block of message 2 that is asked for, or one of message 3. */
static void take_block(const coap_head *request, const coap_reader *payload) {
    coap_writer to;
    if (block_1 == NO_BLOCK) {
        if (is_open && block_2 >> 4 > 0 && (block_2 & 15) == SZX &&
            block_at(block_2) < whole_length)
            answer_block(request, block_2 >> 4);
        else
            answer_code(request, COAP_BAD_REQUEST);
        return;
    }
    if (!gather(block_1, payload)) {
        answer_code(request, COAP_INCOMPLETE);
        return;
    }
    uint8_t code = COAP_CONTINUE;
    if (!(block_1 & MORE)) {
        take_edhoc(request, &(coap_reader){whole, whole_length, 0});
        if (out[1] != COAP_CHANGED)
            return;
        code = COAP_CHANGED;
    }
    begin_answer(&to, out, sizeof out, request, code);
    coap_write(&to, COAP_BLOCK1, &block_1, 1);
    out_length = (size_t)(to.at - out);
}

#endif

/* Takes message 3 out of a combined request (RFC 9668, section 3.3.1): it is the payload's first
   CBOR item. */
static bool separate(const coap_reader *payload) {
    cbor_reader reader = {payload->at, payload->left};
    const uint8_t *bytes;
    size_t length;
    if (!cbor_read_bytes(&reader, &bytes, &length) ||
        !take_3(payload->at, payload->left - reader.left))
        return false;
    uint8_t *to = in.bytes + (payload->at - in.bytes);
    for (size_t i = 0; i < reader.left; i++)
        to[i] = reader.at[i];
    in.length = (uint16_t)(in.length - (payload->left - reader.left));
    return true;
}

static void take_protected(const coap_head *request) {
    static const uint8_t codes[] = {
        [OSCORE_MALFORMED] = COAP_BAD_OPTION,  [OSCORE_UNKNOWN] = COAP_UNAUTHORIZED,
        [OSCORE_REPLAYED] = COAP_UNAUTHORIZED, [OSCORE_FORGED] = COAP_BAD_REQUEST,
        [OSCORE_STALE] = COAP_UNAUTHORIZED,    [OSCORE_NO_ROOM] = COAP_BAD_REQUEST,
        [OSCORE_EXHAUSTED] = COAP_UNAUTHORIZED};
    oscore_request bound;
    coap_writer to;
    if (!is_secured) {
        answer_code(request, COAP_UNAUTHORIZED);
        return;
    }
    plain_length = sizeof plain;
    compute_begin();
    oscore_status status =
        oscore_open_request(&security, in.bytes, in.length, plain, &plain_length, &bound);
    compute_end();
    if (status != OSCORE_OK) {
        answer_code(request, codes[status]);
        return;
    }
    coap_head head;
    coap_option option;
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
    begin_answer(&to, plain, sizeof plain, request, code);
    fill(&to, 'A', 26, LEDGER_RESPONSE_BYTES);
    out_length = sizeof out;
    status = oscore_protect_response(&security, plain, (size_t)(to.at - plain), out, &out_length,
                                     &bound, false);
    compute_end();
    if (status != OSCORE_OK)
        answer_code(request, codes[status]);
}

/* Makes the response to what was received, if it is a request. */
static bool answer(void) {
    coap_head head;
    coap_option option;
    coap_next next;
    size_t n = coap_read_head(in.bytes, in.length, &head);
    coap_reader options = {in.bytes + n, in.length - n, 0};
    bool is_protected = false, is_combined = false;
    uint8_t segment = 0;
    if (n == 0 || head.type != COAP_CON || head.code != COAP_POST)
        return false;
    /* A copy of an earlier request comes late: a client makes one at a time (RFC 7252, section 4.7)
       and does not wait for it any more. */
    uint8_t ago = answered_ago(head.id);
    if (ago < ANSWERED)
        return ago == 0;
    remember(head.id);
#if EDHOC_MESSAGE_BYTES > 0
    block_1 = block_2 = NO_BLOCK;
#endif
    while ((next = coap_read(&options, &option)) == COAP_OPTION) {
#if EDHOC_MESSAGE_BYTES > 0
        note_block(&option);
#endif
        is_protected |= option.number == COAP_OSCORE;
        is_combined |= option.number == COAP_EDHOC;
        if (option.number == COAP_URI_PATH) {
            const uint8_t *wanted = segment == 0 ? WELL_KNOWN : EDHOC_PATH;
            size_t length = segment == 0 ? sizeof WELL_KNOWN - 1 : sizeof EDHOC_PATH - 1;
            bool is_same = segment < 2 && option.length == length;
            for (size_t i = 0; is_same && i < length; i++)
                is_same = option.value[i] == wanted[i];
            segment = is_same ? segment + 1 : 3;
        }
    }
    if (next == COAP_MALFORMED)
        answer_code(&head, COAP_BAD_OPTION);
    else if (is_protected && is_combined && !separate(&options))
        answer_error(&head);
    else if (is_protected)
        take_protected(&head);
#if EDHOC_MESSAGE_BYTES > 0
    else if (segment == 2 && (block_1 != NO_BLOCK || block_2 != NO_BLOCK))
        take_block(&head, &options);
#endif
    else if (segment == 2)
        take_edhoc(&head, &options);
    else
        answer_code(&head, COAP_NOT_FOUND);
    return true;
}

int main(void) {
    hal_init();
    party_of_responder(&party);
    if (BOOTS_MAX > 0)
        renew_ephemeral();
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
