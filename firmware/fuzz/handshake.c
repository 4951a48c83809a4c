/* libFuzzer target for EDHOC's messages and its CBOR reader: arbitrary bytes as a message, and
   arbitrary plaintexts under the right keys, which any participant has before it has authenticated.
   Only the message that the peer sent may be accepted; a refusal writes no output and leaves no
   state. Messages carry external authorization data, and each side must receive what the other
   sent; arbitrary bytes in its place must be accepted exactly as far as an independent reader below
   finds them valid. Both sides must export and update alike.

   Curves and signatures are toys here, so that the time goes into the messages. METHOD is EDHOC's.
   Buffers are heap blocks of the exact size, so that AddressSanitizer sees every access beyond
   them. */
#include <stdlib.h>
#include <string.h>

#include "sha256.h"

#include "handshake/edhoc.h"

EDHOC_FUNCTIONS(fuzzed);

/* A commutative toy: a public key is its secret with some bits flipped. */
static crypto_status toy_public(uint8_t out[32], const uint8_t *secret) {
    for (unsigned i = 0; i < 32; i++)
        out[i] = secret[i] ^ 0x5c;
    return CRYPTO_OK;
}

static crypto_status toy_agree(uint8_t shared[32], const uint8_t *secret, const uint8_t *peer) {
    if (peer[0] == 0) /* as if it were not a point */
        return CRYPTO_BAD_TAG;
    for (unsigned i = 0; i < 32; i++)
        shared[i] = secret[i] ^ peer[i] ^ 0x5c;
    return CRYPTO_OK;
}

#if METHOD == 0
static crypto_status toy_sign(uint8_t out[64], const uint8_t *key, const uint8_t *public_key,
                              const uint8_t *seed, const uint8_t *message, size_t length) {
    sha256_ctx hash;
    (void)key, (void)seed;
    sha256_init(&hash);
    sha256_update(&hash, public_key, 32);
    sha256_update(&hash, message, length);
    sha256_final(&hash, out);
    memcpy(out + 32, out, 32);
    return CRYPTO_OK;
}

static crypto_status toy_verify(const uint8_t *signature, const uint8_t *public_key,
                                const uint8_t *message, size_t length) {
    uint8_t right[64];
    toy_sign(right, NULL, public_key, NULL, message, length);
    /* Not memcmp, whose comparisons would teach the fuzzer to forge. */
    return crypto_equal(signature, right, sizeof right) ? CRYPTO_OK : CRYPTO_BAD_TAG;
}
#endif

#define EDHOC(name) fuzzed_##name
#define EDHOC_METHOD METHOD
#define EDHOC_SUITE 2
#define EDHOC_KEYGEN toy_public
#define EDHOC_AGREE toy_agree
#define EDHOC_SIGN toy_sign
#define EDHOC_VERIFY toy_verify
#include "handshake/edhoc-core.h"

enum { ROOM = 192, MARK = 0xa5, WAYS = 11 };

static uint8_t secrets[4][32], public_keys[2][32];
static uint8_t identities[2][4] = {{0xa1, 0x04, 0x41, 0x2b}, {0xa1, 0x04, 0x41, 0x32}};
static uint8_t credentials[2][24];
static uint8_t suites_and_c_i[] = {0x82, 0x06, 0x02, 0x37}, c_r[] = {0x27};
static handshake sides[2];
/* Messages 1 to 4, plaintexts 2 and 3, and the receiver's context before it reads each message. */
static uint8_t message_bytes[5][ROOM], plaintexts[4][ROOM];
static size_t lengths[5], plaintext_lengths[4];
static fuzzed_ctx before[5];
/* Padding, a critical item, a non-critical one, and one without a value. */
static uint8_t additions[] = {0x00, 0x20, 0x43, 'e', 'a', 'd', 0x19, 0x03, 0xe8, 0x41, 1, 0x01};
static unsigned known_heard, others_heard;
static uint8_t prk_2e[32], th_2[32], prk_3e2m[32], th_3[32];
static fuzzed_ctx finished; /* the responder's, after message 4 */

static void require(int condition) {
    if (!condition)
        abort();
}

static handshake_party party(int who, int is_own) {
    handshake_party p = {.public_key = public_keys[who],
                         .identity = {identities[who], sizeof identities[who]},
                         .credential = {credentials[who], sizeof credentials[who]}};
    if (is_own) {
        p.ephemeral = secrets[2 * who];
        p.key = secrets[2 * who + 1];
        p.connection = who == 0 ? (handshake_bytes){suites_and_c_i, sizeof suites_and_c_i}
                                : (handshake_bytes){c_r, sizeof c_r};
    }
    return p;
}

/* The receiver understands only label 1. */
static int hears_item(void *application, uint8_t number, const handshake_item *item) {
    require(application == additions && number >= 1 && number <= 4);
    require(item->label != HANDSHAKE_PADDING && (item->value || item->length == 0));
    if (item->label == 1)
        known_heard++;
    else
        others_heard++;
    return item->label == 1;
}

static handshake_bytes message(int number) {
    return (handshake_bytes){message_bytes[number], lengths[number]};
}

/* Runs a valid handshake and keeps what an insider knows of it. */
int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    fuzzed_ctx i = {0}, r = {0};
    handshake_bytes out, in;
    (void)argc, (void)argv;
    for (unsigned k = 0; k < sizeof secrets; k++)
        secrets[k / 32][k % 32] = (uint8_t)(7 * k + k / 32 + 1);
    for (int who = 0; who < 2; who++) {
        toy_public(public_keys[who], secrets[2 * who + 1]);
        credentials[who][0] = CBOR_BYTES | 23;
        credentials[who][5] = (uint8_t)who;
    }
    for (int who = 0; who < 2; who++)
        sides[who] = (handshake){.own = party(who, 1),
                                 .peer = party(1 - who, 0),
                                 .ad = {{additions, sizeof additions}, hears_item, additions}};
    for (int number = 1; number <= 4; number++) {
        out = (handshake_bytes){message_bytes[number], ROOM};
        in = message(number - 1);
        before[number - 1] = number % 2 == 1 ? i : r;
        switch (number) {
        case 1:
            require(fuzzed_message_1(&i, &sides[0], &out) == CRYPTO_OK);
            break;
        case 2:
            require(fuzzed_message_2(&r, &sides[1], &in, &out) == CRYPTO_OK);
            break;
        case 3:
            require(fuzzed_message_3(&i, &sides[0], &in, &out) == CRYPTO_OK);
            break;
        default:
            require(fuzzed_finish(&r, &sides[1], &in) == CRYPTO_OK);
            require(fuzzed_message_4(&r, &sides[1], &out) == CRYPTO_OK);
        }
        lengths[number] = out.length;
    }
    in = message(4);
    before[4] = i;
    require(fuzzed_confirm(&i, &sides[0], &in) == CRYPTO_OK);
    require(memcmp(i.key, r.key, sizeof i.key) == 0);
    require(known_heard == 8 && others_heard == 4);
    finished = r;

    /* Plaintext 2 is encrypted with a key stream; K_3 is in the responder's context before message
       3. */
    fuzzed_ctx insider = before[2];
    require(begin_2(&insider, message_bytes[2] + 2, secrets[0], message_bytes[2] + 2) == CRYPTO_OK);
    memcpy(prk_2e, insider.prk, 32);
    memcpy(th_2, insider.th, 32);
    plaintext_lengths[2] = lengths[2] - 2 - ANSWER;
    crypt_2(prk_2e, th_2, plaintexts[2], message_bytes[2] + 2 + ANSWER, plaintext_lengths[2]);
    memcpy(prk_3e2m, before[3].prk, 32);
    memcpy(th_3, before[3].th, 32);
    size_t head = message_bytes[3][0] == (CBOR_BYTES | 24) ? 2 : 1;
    plaintext_lengths[3] = lengths[3] - head - TAG;
    memcpy(plaintexts[3], message_bytes[3] + head, plaintext_lengths[3]);
    require(crypt(prk_3e2m, K_3, th_3, plaintexts[3], plaintext_lengths[3],
                  message_bytes[3] + lengths[3] - TAG, 1) == CRYPTO_OK);
    return 0;
}

/* Gives a side a candidate for message `number`; returns whether it accepts it. */
static int hears(int number, const uint8_t *bytes, size_t length) {
    uint8_t *heard = malloc(length + !length), *said = malloc(ROOM);
    fuzzed_ctx ctx = before[number], nothing = {0};
    require(heard != NULL && said != NULL);
    if (length > 0)
        memcpy(heard, bytes, length);
    memset(said, MARK, ROOM);
    handshake_bytes in = {heard, length}, out = {said, ROOM};
    crypto_status status = number == 1   ? fuzzed_message_2(&ctx, &sides[1], &in, &out)
                           : number == 2 ? fuzzed_message_3(&ctx, &sides[0], &in, &out)
                           : number == 3 ? fuzzed_finish(&ctx, &sides[1], &in)
                                         : fuzzed_confirm(&ctx, &sides[0], &in);
    if (status != CRYPTO_OK) {
        uint8_t error[EDHOC_ERROR_BYTES];
        handshake_bytes told = {error, sizeof error};
        require(status == CRYPTO_BAD_TAG);
        for (unsigned i = 0; i < ROOM; i++)
            require(said[i] == MARK);
        fuzzed_error(&ctx, &told);
        require(edhoc_read_error(error, told.length) == ctx.error);
        ctx.error = 0;
        require(memcmp(&ctx, &nothing, sizeof ctx) == 0);
    }
    free(heard);
    free(said);
    return status == CRYPTO_OK;
}

static int is(const uint8_t *bytes, size_t length, const uint8_t *right, size_t right_length) {
    return length == right_length && memcmp(bytes, right, length) == 0;
}

/* Sends an arbitrary plaintext 2 or 3 under the right keys. */
static void insider_says(int number, const uint8_t *bytes, size_t length) {
    uint8_t all[ROOM + 8];
    if (length > EDHOC_PLAINTEXT_BYTES)
        length = EDHOC_PLAINTEXT_BYTES;
    size_t more = number == 2 ? ANSWER : TAG;
    size_t head = cbor_head(all, CBOR_BYTES, length + more), n = head;
    if (number == 2) {
        memcpy(all + n, message_bytes[2] + 2, ANSWER);
        crypt_2(prk_2e, th_2, all + n + ANSWER, bytes, length);
    } else {
        if (length > 0)
            memcpy(all + n, bytes, length);
        require(crypt(prk_3e2m, K_3, th_3, all + n, length, all + n + length, 0) == CRYPTO_OK);
    }
    int right = is(bytes, length, plaintexts[number], plaintext_lengths[number]);
    require(hears(number, all, n + length + more) == right);
}

/* Checks that whatever the reader accepts is in the shortest form and within the input. */
static void reads(const uint8_t *bytes, size_t length) {
    uint8_t *exact = malloc(length + !length), head[CBOR_HEAD_MOST];
    const uint8_t *string;
    size_t size;
    require(exact != NULL);
    if (length > 0)
        memcpy(exact, bytes, length);
    cbor_reader in = {exact, length};
    if (cbor_read_bytes(&in, &string, &size)) {
        size_t n = cbor_head(head, CBOR_BYTES, size);
        require(string == exact + n && memcmp(exact, head, n) == 0);
        require(in.at == string + size && in.left == length - n - size);
    } else {
        require(in.at == exact && in.left == length);
    }
    in = (cbor_reader){exact, length};
    size = cbor_read_identifier(&in);
    require(size <= length && (size == 0 || in.at == exact + size));
    require(cbor_suites(exact, length) <= length);
    handshake_item item;
    in = (cbor_reader){exact, length};
    if (edhoc_read_item(&in, &item)) {
        /* Writing it again must give the same bytes, and must fail with one byte less room. */
        uint8_t again[ROOM + 8];
        size_t used = length - in.left;
        require(used <= length && edhoc_write_item(again, used, &item) == used);
        require(memcmp(again, exact, used) == 0);
        require(edhoc_write_item(again, used - 1, &item) == 0);
    }
    edhoc_error error = edhoc_read_error(exact, length);
    require(error == EDHOC_NO_ERROR || (length >= 2 && exact[0] == (uint8_t)error));
    free(exact);
}

/* Parses a head in the shortest form (RFC 8949, section 3) with a number below 65536; returns its
   length, or 0. */
static size_t head_of(const uint8_t *at, size_t left, unsigned *type, size_t *number) {
    if (left == 0)
        return 0;
    *type = at[0] >> 5;
    *number = at[0] & 31;
    if (*number < 24)
        return 1;
    if (*number == 24 && left >= 2 && at[1] >= 24) {
        *number = at[1];
        return 2;
    }
    if (*number == 25 && left >= 3 && at[1] > 0) {
        *number = (size_t)at[1] * 256 + at[2];
        return 3;
    }
    return 0;
}

/* Returns whether these are valid items, with no critical one but of label 1; counts those of label
   1. */
static int are_items(const uint8_t *at, size_t left, unsigned *known) {
    *known = 0;
    while (left > 0) {
        unsigned type;
        size_t number, n = head_of(at, left, &type, &number);
        if (n == 0 || type > 1 || (type == 1 && number != 0))
            return 0;
        *known += type == 1 || number == 1;
        at += n;
        left -= n;
        if (left == 0 || at[0] >> 5 != 2)
            continue;
        n = head_of(at, left, &type, &number);
        if (n == 0 || left - n < number)
            return 0;
        at += n + number;
        left -= n + number;
    }
    return 1;
}

/* Puts arbitrary bytes into message 1 or 4 as its authorization data. */
static void adds(int number, const uint8_t *bytes, size_t length) {
    uint8_t all[2 * ROOM];
    unsigned known;
    if (length > EDHOC_PLAINTEXT_BYTES)
        length = EDHOC_PLAINTEXT_BYTES;
    size_t n =
        number == 1 ? lengths[1] - sizeof additions : cbor_head(all, CBOR_BYTES, length + TAG);
    if (number == 1)
        memcpy(all, message_bytes[1], n);
    if (length > 0)
        memcpy(all + n, bytes, length);
    if (number == 4) {
        require(crypt(finished.prk, K_4, finished.th, all + n, length, all + n + length, 0) ==
                CRYPTO_OK);
        n += TAG;
    }
    known_heard = 0;
    int good = are_items(bytes, length, &known);
    require(hears(number, all, n + length) == good);
    require(!good || known_heard == known);
}

/* Two sides with the same key must export the same for any label and context, and something else
   after an update. */
static void exports(const uint8_t *bytes, size_t length) {
    fuzzed_ctx one = finished, other = finished;
    uint8_t out[2][48], label = bytes[0] % 24, size = bytes[1] % sizeof out[0];
    bytes += 2;
    length -= 2;
    fuzzed_export(&one, label, bytes, length, out[0], size);
    fuzzed_update(&one, bytes, length);
    fuzzed_export(&one, label, bytes, length, out[1], size);
    require(size < 16 || memcmp(out[0], out[1], size) != 0);
    require(memcmp(one.key, other.key, sizeof one.key) != 0);
    fuzzed_update(&other, bytes, length);
    require(memcmp(&one, &other, sizeof one) == 0);
    fuzzed_export(&other, label, bytes, length, out[0], size);
    require(memcmp(out[0], out[1], size) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0)
        return 0;
    int way = data[0] % WAYS, number = 1 + way % 4;
    data++;
    size--;
    if (way < 4) {
        int taken = hears(number, data, size);
        /* Anybody may send a message 1. */
        require(number == 1 || taken == is(data, size, message_bytes[number], lengths[number]));
    } else if (way < 6) {
        insider_says(way - 2, data, size);
    } else if (way == 6) {
        reads(data, size);
    } else if (way < 9) {
        adds(way == 7 ? 1 : 4, data, size);
    } else if (way == 9) {
        if (size >= 2)
            exports(data, size);
    } else if (size > 0) {
        /* A valid message with a few bytes changed. */
        uint8_t changed[ROOM];
        number = 1 + data[0] % 4;
        memcpy(changed, message_bytes[number], lengths[number]);
        for (size_t i = 1; i + 1 < size; i += 2)
            changed[data[i] % lengths[number]] ^= data[i + 1];
        int taken = hears(number, changed, lengths[number]);
        int right = is(changed, lengths[number], message_bytes[number], lengths[number]);
        require(number == 1 || taken == right);
    }
    return 0;
}
