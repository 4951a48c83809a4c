/* libFuzzer target for CoAP and OSCORE as devices read them, and for UDP's headers.

   Whatever is read as a message must be written again as the same bytes, wherever only one form is
   allowed. Arbitrary bytes, and a protected message with some bytes changed, must be accepted
   exactly as far as they carry the right tag: what was never protected never opens. An insider's
   plaintext, protected with the right keys, must open to a message that reads well or not at all.

   Buffers are heap blocks of the exact size, so that AddressSanitizer sees every access beyond
   them. */
#include <stdlib.h>
#include <string.h>

#include "../net/coap/coap.c"
#include "../net/oscore/oscore.c"

enum { ROOM = 300, WAYS = 5 };

static oscore_ctx client, server;
static uint8_t request_bytes[ROOM], response_bytes[ROOM];
static size_t request_length, response_length;
static oscore_request sent, bound;
static oscore_ctx server_before, client_before;

static void require(bool condition) {
    if (!condition)
        abort();
}

static uint8_t *exactly(const uint8_t *bytes, size_t length) {
    uint8_t *block = malloc(length + !length);
    require(block != NULL);
    if (length > 0)
        memcpy(block, bytes, length);
    return block;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    static const uint8_t secret[OSCORE_KEY_BYTES] = {1, 2, 3}, salt[8] = {9, 8, 7};
    static const uint8_t plain[] = {0x42, COAP_POST, 0, 7, 1, 2, 0xb1, 's', 0xff, 'd', 'a', 't'};
    static const uint8_t answer[] = {0x62, COAP_CHANGED, 0, 7, 1, 2, 0xff, 'o', 'k'};
    const oscore_id one = {.length = 1, .bytes = {0x27}}, other = {.length = 1, .bytes = {0x37}};
    uint8_t opened[ROOM], in[ROOM];
    size_t length = ROOM;
    (void)argc, (void)argv;
    oscore_init(&client, secret, salt, sizeof salt, &one, &other, NULL);
    oscore_init(&server, secret, salt, sizeof salt, &other, &one, NULL);
#if OSCORE_GROUP
    static const uint8_t credentials[] = "client, server, manager", shared[32] = {4, 5, 6};
    const oscore_credential members[] = {{credentials, 6}, {credentials + 8, 6}},
                            manager = {credentials + 16, 7};
    oscore_init_pairwise(&client, &members[0], &members[1], &manager, shared, sizeof shared);
    oscore_init_pairwise(&server, &members[1], &members[0], &manager, shared, sizeof shared);
#endif
    request_length = response_length = ROOM;
    require(oscore_protect_request(&client, plain, sizeof plain, request_bytes, &request_length,
                                   &sent) == OSCORE_OK);
    server_before = server;
    memcpy(in, request_bytes, request_length);
    require(oscore_open_request(&server, in, request_length, opened, &length, &bound) == OSCORE_OK);
    require(length == sizeof plain && memcmp(opened, plain, length) == 0);
    require(oscore_protect_response(&server, answer, sizeof answer, response_bytes,
                                    &response_length, &bound, false) == OSCORE_OK);
    client_before = client;
    return 0;
}

/* Whether two messages differ at most in type, message ID, token and outer code, which nothing
   protects (section 4.2), and so in nothing that a receiver would take as authentic. */
static bool is_alike(const uint8_t *a, size_t a_length, const uint8_t *b, size_t b_length) {
    coap_head one, other;
    size_t m = coap_read_head(a, a_length, &one), n = coap_read_head(b, b_length, &other);
    if (m == 0 || n == 0)
        return false;
    coap_reader a_options = {a + m, a_length - m, 0}, b_options = {b + n, b_length - n, 0};
    coap_option option;
    uint8_t a_value[16], b_value[16];
    size_t a_value_length = 0, b_value_length = 0;
    while (coap_read(&a_options, &option) == COAP_OPTION)
        if (option.number == COAP_OSCORE && option.length <= sizeof a_value) {
            memcpy(a_value, option.value, option.length);
            a_value_length = option.length;
        }
    while (coap_read(&b_options, &option) == COAP_OPTION)
        if (option.number == COAP_OSCORE && option.length <= sizeof b_value) {
            memcpy(b_value, option.value, option.length);
            b_value_length = option.length;
        }
    return a_options.left == b_options.left && a_value_length == b_value_length &&
           memcmp(a_value, b_value, a_value_length) == 0 &&
           memcmp(a_options.at, b_options.at, a_options.left) == 0;
}

/* Gives the server, or the client, a candidate; returns whether it opens. */
static bool opens(const uint8_t *bytes, size_t length, bool is_request) {
    uint8_t *in = exactly(bytes, length), *out = malloc(ROOM);
    size_t room = ROOM;
    oscore_request other = {0};
    require(out != NULL);
    oscore_ctx ctx = is_request ? server_before : client_before;
    oscore_status status = is_request ? oscore_open_request(&ctx, in, length, out, &room, &other)
                                      : oscore_open_response(&ctx, in, length, out, &room, &sent);
    if (status == OSCORE_OK) {
        coap_head head;
        require(room <= ROOM && coap_read_head(out, room, &head) > 0);
    }
    free(in);
    free(out);
    return status == OSCORE_OK;
}

/* What reads well is written again as it was, unless a length was not in its shortest form. */
static void reads(const uint8_t *bytes, size_t length) {
    uint8_t *in = exactly(bytes, length), *again = malloc(length + 1);
    coap_head head;
    coap_option option;
    coap_next next = COAP_END;
    coap_writer to = {.at = again, .room = length};
    require(again != NULL);
    size_t n = coap_read_head(in, length, &head);
    if (n > 0) {
        coap_reader options = {in + n, length - n, 0};
        coap_write_head(&to, &head);
        while ((next = coap_read(&options, &option)) == COAP_OPTION) {
            require(option.value >= in + n && option.value + option.length <= in + length);
            coap_write(&to, option.number, option.value, option.length);
        }
        if (next == COAP_END) {
            coap_write_payload(&to, options.at, options.left);
            require(!to.overflow && to.room == 0 && memcmp(in, again, length) == 0);
        }
    }
    free(in);
    free(again);
}

/* Protects arbitrary bytes as if they were a message, and opens what came of it. */
static void round_trip(const uint8_t *bytes, size_t length) {
    uint8_t *in = exactly(bytes, length), *out = malloc(ROOM), *back = malloc(ROOM);
    oscore_ctx from = client, to = server_before;
    oscore_request own, theirs;
    size_t room = ROOM, there = ROOM;
    require(out != NULL && back != NULL);
    if (oscore_protect_request(&from, in, length, out, &room, &own) == OSCORE_OK) {
        require(room <= length + OSCORE_MORE_BYTES_MAX);
        oscore_status status = oscore_open_request(&to, out, room, back, &there, &theirs);
        /* An empty code inside, or an option of class U inside, is not opened. */
        require(status == OSCORE_OK || status == OSCORE_MALFORMED);
        if (status == OSCORE_OK)
            require(there == length && memcmp(back, bytes, length) == 0);
    }
    free(in);
    free(out);
    free(back);
}

/* Encrypts arbitrary bytes as an insider could, with the right key and number. */
static void insider(const uint8_t *bytes, size_t length) {
    uint8_t text[ROOM], message[ROOM], value[OPTION_MOST];
    oscore_ctx from = client;
    oscore_request own;
    if (length == 0 || length > 200)
        return;
    require(take_number(&from, &own) == OSCORE_OK);
    memcpy(text, bytes, length);
    option_bytes option = {value, write_option(value, &own, &from.sender, &from.id_context)};
    crypt(from.sender_key, &from, &from.sender, &own, &from.sender, &own, &option, text, length,
          false);
    coap_writer to = {.at = message, .room = sizeof message};
    coap_write_head(&to, &(coap_head){.type = COAP_CON, .code = COAP_POST, .id = 9});
    coap_write(&to, COAP_OSCORE, option.at, option.length);
    coap_write_payload(&to, text, length + OSCORE_TAG_BYTES);
    opens(message, (size_t)(to.at - message), true);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    int way = data[0] % WAYS;
    bool is_request = data[0] & 0x80;
    const uint8_t *genuine = is_request ? request_bytes : response_bytes;
    size_t length = is_request ? request_length : response_length;
    data++;
    size--;
    if (size > 250)
        size = 250;
    if (way == 0) {
        require(!opens(data, size, is_request) || is_alike(data, size, genuine, length));
    } else if (way == 1) {
        reads(data, size);
    } else if (way == 2) {
        round_trip(data, size);
    } else if (way == 3) {
        insider(data, size);
    } else if (size > 0) {
        /* A genuine message, shortened or with a few bytes changed. */
        uint8_t changed[ROOM];
        size_t some = length - data[0] % 8 * (data[0] < 64);
        memcpy(changed, genuine, length);
        for (size_t i = 1; i + 1 < size; i += 2)
            changed[data[i] % length] ^= data[i + 1];
        require(!opens(changed, some, is_request) || is_alike(changed, some, genuine, length));
    }
    return 0;
}
