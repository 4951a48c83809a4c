#include "suit.h"

/* Major types (RFC 8949, section 3.1). */
enum { UNSIGNED = 0, NEGATIVE = 1, BYTES = 2, ARRAY = 4, MAP = 5, TAG = 6, SIMPLE = 7 };

enum { NULL_VALUE = 22 };

/* COSE's SHA-256 (RFC 9054), which is negative: -1 - 15. */
enum { SHA_256 = 15 };

enum { TAG_ENVELOPE = 107, TAG_COSE_SIGN1 = 18 };
enum { AUTHENTICATION = 2, MANIFEST = 3 };
enum { VERSION = 1, SEQUENCE = 2, COMMON = 3, VALIDATE = 7, INVOKE = 9 };
enum { COMPONENTS = 2, SHARED_SEQUENCE = 4 };
enum { CONDITION_VENDOR = 1, CONDITION_CLASS = 2, CONDITION_IMAGE = 3 };
enum { OVERRIDE_PARAMETERS = 20, DIRECTIVE_INVOKE = 23 };
enum { VENDOR = 1, CLASS = 2, IMAGE_DIGEST = 3, IMAGE_SIZE = 14 };

/* What is left to decode. After an error, nothing is left and nothing more is read. */
typedef struct {
    const uint8_t *at, *end;
    uint8_t failed;
} reader;

static void fail(reader *r) {
    r->at = r->end;
    r->failed = 1;
}

/* Reads the head of an item of a major type; returns its argument. */
static uint32_t head(reader *r, unsigned major) {
    if (r->at == r->end || *r->at >> 5 != major) {
        fail(r);
        return 0;
    }
    uint32_t argument = *r->at++ & 31;
    if (argument < 24)
        return argument;
    /* One, two or four bytes follow, and not more of them than are needed. */
    unsigned bytes = 1u << (argument - 24);
    if (argument > 26 || (size_t)(r->end - r->at) < bytes) {
        fail(r);
        return 0;
    }
    argument = 0;
    for (unsigned i = 0; i < bytes; i++)
        argument = argument << 8 | *r->at++;
    if (bytes == 1 ? argument < 24 : argument >> (4 * bytes) == 0)
        fail(r);
    return argument;
}

/* Reads an item that can only have this value. It is called everywhere, and is not inlined because
   bootloaders must be small. */
__attribute__((noinline)) static void expect(reader *r, unsigned major, uint32_t argument) {
    if (head(r, major) != argument)
        fail(r);
}

static suit_bytes take(reader *r) {
    suit_bytes bytes = {NULL, 0};
    uint32_t length = head(r, BYTES);
    if (length > (size_t)(r->end - r->at)) {
        fail(r);
        return bytes;
    }
    bytes.at = r->at;
    bytes.length = length;
    r->at += length;
    return bytes;
}

static const uint8_t *take_exactly(reader *r, size_t length) {
    suit_bytes bytes = take(r);
    if (bytes.length != length)
        fail(r);
    return bytes.at;
}

/* Reads a byte string that holds encoded items, to be read by the reader that is returned. */
static reader inside(reader *r) {
    suit_bytes bytes = take(r);
    if (bytes.at == NULL)
        return *r;
    return (reader){bytes.at, bytes.at + bytes.length, r->failed};
}

/* Everything in a byte string must have been read. */
static void leave(reader *r, const reader *inner) {
    if (inner->failed || inner->at != inner->end)
        fail(r);
}

static const uint8_t *take_digest(reader *r) {
    expect(r, ARRAY, 2);
    expect(r, NEGATIVE, SHA_256);
    return take_exactly(r, SUIT_DIGEST_BYTES);
}

static void decode_signature(reader *r, suit_signature *out) {
    expect(r, TAG, TAG_COSE_SIGN1);
    expect(r, ARRAY, 4);
    out->protected_header.at = r->at;
    reader header = inside(r);
    expect(&header, MAP, 1);
    expect(&header, UNSIGNED, 1);
    uint32_t number = head(&header, NEGATIVE);
    if (number > INT32_MAX)
        fail(&header);
    out->algorithm = -1 - (int32_t)(number & INT32_MAX);
    leave(r, &header);
    out->protected_header.length = (size_t)(r->at - out->protected_header.at);
    expect(r, MAP, 0);
    expect(r, SIMPLE, NULL_VALUE);
    out->signature = take(r);
}

static void decode_authentication(reader *r, suit_manifest *out) {
    uint32_t items = head(r, ARRAY);
    if (items < 2 || items > 1 + SUIT_SIGNATURES_MAX) {
        fail(r);
        return;
    }
    reader digest = inside(r);
    out->digest.at = digest.at;
    out->digest.length = (size_t)(digest.end - digest.at);
    out->digest_is = take_digest(&digest);
    leave(r, &digest);
    out->signatures = (unsigned)items - 1;
    for (unsigned i = 0; i < out->signatures; i++) {
        reader signature = inside(r);
        decode_signature(&signature, &out->signature[i]);
        leave(r, &signature);
    }
}

static void decode_shared_sequence(reader *r, suit_manifest *out) {
    expect(r, ARRAY, 6);
    expect(r, UNSIGNED, OVERRIDE_PARAMETERS);
    expect(r, MAP, 4);
    expect(r, UNSIGNED, VENDOR);
    out->vendor = take_exactly(r, SUIT_UUID_BYTES);
    expect(r, UNSIGNED, CLASS);
    out->class = take_exactly(r, SUIT_UUID_BYTES);
    expect(r, UNSIGNED, IMAGE_DIGEST);
    reader digest = inside(r);
    out->image_digest = take_digest(&digest);
    leave(r, &digest);
    expect(r, UNSIGNED, IMAGE_SIZE);
    out->image_bytes = head(r, UNSIGNED);
    /* Whatever is to be reported of a condition, it is checked. */
    expect(r, UNSIGNED, CONDITION_VENDOR);
    (void)head(r, UNSIGNED);
    expect(r, UNSIGNED, CONDITION_CLASS);
    (void)head(r, UNSIGNED);
}

static void decode_common(reader *r, suit_manifest *out) {
    expect(r, MAP, 2);
    expect(r, UNSIGNED, COMPONENTS);
    expect(r, ARRAY, 1);
    expect(r, ARRAY, 1);
    out->component = take(r);
    expect(r, UNSIGNED, SHARED_SEQUENCE);
    reader sequence = inside(r);
    decode_shared_sequence(&sequence, out);
    leave(r, &sequence);
}

/* Reads a sequence of one command, with what is to be reported. */
static void decode_one_command(reader *r, uint32_t command) {
    reader sequence = inside(r);
    expect(&sequence, ARRAY, 2);
    expect(&sequence, UNSIGNED, command);
    (void)head(&sequence, UNSIGNED);
    leave(r, &sequence);
}

static void decode_manifest(reader *r, suit_manifest *out) {
    expect(r, MAP, 5);
    expect(r, UNSIGNED, VERSION);
    expect(r, UNSIGNED, 1);
    expect(r, UNSIGNED, SEQUENCE);
    out->sequence = head(r, UNSIGNED);
    expect(r, UNSIGNED, COMMON);
    reader common = inside(r);
    decode_common(&common, out);
    leave(r, &common);
    expect(r, UNSIGNED, VALIDATE);
    decode_one_command(r, CONDITION_IMAGE);
    expect(r, UNSIGNED, INVOKE);
    decode_one_command(r, DIRECTIVE_INVOKE);
}

size_t suit_decode(suit_manifest *out, const uint8_t *bytes, size_t length) {
    reader r = {bytes, bytes + length, 0};
    expect(&r, TAG, TAG_ENVELOPE);
    expect(&r, MAP, 2);
    expect(&r, UNSIGNED, AUTHENTICATION);
    reader authentication = inside(&r);
    decode_authentication(&authentication, out);
    leave(&r, &authentication);
    expect(&r, UNSIGNED, MANIFEST);
    out->manifest.at = r.at;
    reader manifest = inside(&r);
    decode_manifest(&manifest, out);
    leave(&r, &manifest);
    out->manifest.length = (size_t)(r.at - out->manifest.at);
    return r.failed ? 0 : (size_t)(r.at - bytes);
}

static uint8_t *append(uint8_t *to, const uint8_t *from, size_t length) {
    for (size_t i = 0; i < length; i++)
        *to++ = from[i];
    return to;
}

size_t suit_signed(uint8_t *out, const suit_manifest *m, const suit_signature *signature) {
    static const uint8_t context[] = {0x84, 0x6a, 'S', 'i', 'g', 'n', 'a', 't', 'u', 'r', 'e', '1'};
    /* No external data; the payload is the SUIT_Digest, a byte string of 36 bytes. */
    static const uint8_t payload[] = {0x40, 0x58, 36};
    uint8_t *to = append(out, context, sizeof context);
    to = append(to, signature->protected_header.at, signature->protected_header.length);
    to = append(to, payload, sizeof payload);
    to = append(to, m->digest.at, m->digest.length);
    return (size_t)(to - out);
}
