#include "x509.h"

#if DTLS13_X509

/* Tags of DER (X.690, section 8.1.2); those of a certificate's own are in RFC 5280, appendix A. */
enum tag {
    BOOLEAN = 0x01,
    INTEGER = 0x02,
    BIT_STRING = 0x03,
    OCTET_STRING = 0x04,
    OBJECT = 0x06,
    UTF8_STRING = 0x0c,
    PRINTABLE_STRING = 0x13,
    IA5_STRING = 0x16,
    UTC_TIME = 0x17,
    GENERALIZED_TIME = 0x18,
    SEQUENCE = 0x30,
    SET = 0x31,
    MAIL_ADDRESS = 0x81, /* of a GeneralName */
    DNS_NAME = 0x82,
    RESOURCE = 0x86,
    VERSION_FIELD = 0xa0,
    EXTENSIONS_FIELD = 0xa3
};

enum {
    VERSION_3 = 2,
    SERIAL_BYTES_MAX = 20, /* section 4.1.2.2 */
    TRUE = 0xff,           /* X.690, section 11.1 */
    DIGITAL_SIGNATURE = 0x80
};

/* The last byte of id-ce (2.5.29.x; section 4.2.1). */
enum { KEY_USAGE = 15, ALTERNATIVE_NAME = 17, BASIC_CONSTRAINTS = 19, EXTENDED_KEY_USAGE = 37 };

static int is_same(const reader *a, const uint8_t *bytes, size_t length) {
    return a->left == length && crypto_equal(a->at, bytes, length);
}

/* Takes an element of any type; its length must have the shortest form (X.690, section 10.1). */
OUT_OF_LINE static reader take_any(reader *in, uint8_t *tag) {
    *tag = (uint8_t)read_number(in, 1);
    uint32_t length = read_number(in, 1);
    if (length >= 0x80) {
        unsigned more = length & 0x7f;
        length = more == 1 || more == 2 ? read_number(in, more) : 0;
        if (length < (more == 1 ? 0x80u : 0x100u))
            in->is_bad = 1;
    }
    const uint8_t *at = in->is_bad ? NULL : read_bytes(in, length);
    if (at == NULL)
        in->left = 0;
    return (reader){at, at == NULL ? 0 : length, in->is_bad};
}

/* Takes an element of a type; of another one, or of none, both become bad. */
OUT_OF_LINE static reader take(reader *in, enum tag expected) {
    uint8_t tag;
    reader element = take_any(in, &tag);
    if (tag != expected)
        in->is_bad = element.is_bad = 1;
    if (in->is_bad)
        in->left = element.left = 0;
    return element;
}

/* An object identifier, of numbers in their shortest form (X.690, section 8.19.2). */
OUT_OF_LINE static reader take_object(reader *in) {
    reader object = take(in, OBJECT);
    int is_first = 1;
    for (size_t i = 0; i < object.left; i++) {
        if (is_first && object.at[i] == 0x80)
            in->is_bad = 1;
        is_first = object.at[i] < 0x80;
    }
    if (object.left == 0 || !is_first)
        in->is_bad = 1;
    if (in->is_bad)
        in->left = object.left = 0;
    object.is_bad = in->is_bad;
    return object;
}

/* Takes the element that holds nothing but one other. */
OUT_OF_LINE static reader take_within(reader *in, enum tag outer, enum tag inner) {
    reader around = take(in, outer), element = take(&around, inner);
    if (!is_read(&around))
        in->is_bad = element.is_bad = 1;
    return element;
}

static int take_algorithm(reader *in) {
    static const uint8_t expected[] = CREDENTIAL_ALGORITHM;
    const uint8_t *at = read_bytes(in, sizeof expected);
    return at != NULL && crypto_equal(at, expected, sizeof expected);
}

static int take_version(reader *in) {
    reader version = take_within(in, VERSION_FIELD, INTEGER);
    return version.left == 1 && version.at[0] == VERSION_3 && !in->is_bad;
}

/* A positive number in its shortest form. */
static int take_serial(reader *in) {
    reader number = take(in, INTEGER);
    return number.left > 0 && number.left <= SERIAL_BYTES_MAX && number.at[0] < 0x80 &&
           (number.at[0] != 0 || (number.left > 1 && number.at[1] >= 0x80));
}

/* A time in one of the two forms of section 4.1.2.5, in digits; whether there is such a day is left
   to who compares it. */
static int take_time(reader *in, dtls13_bytes *out) {
    uint8_t tag;
    reader time = take_any(in, &tag);
    size_t length = tag == UTC_TIME ? 13 : tag == GENERALIZED_TIME ? 15 : 0;
    if (time.is_bad || length == 0 || time.left != length || time.at[length - 1] != 'Z')
        return 0;
    for (size_t i = 0; i < length - 1; i++)
        if (time.at[i] < '0' || time.at[i] > '9')
            return 0;
    *out = (dtls13_bytes){time.at, time.left};
    return 1;
}

/* Takes a name's text: printable ASCII, as EUI-64 and domains are, so that no name looks like
   another one or ends early. */
static int take_name(dtls13_bytes *out, const reader *text) {
    if (out->at != NULL || text->left == 0)
        return 0;
    for (size_t i = 0; i < text->left; i++)
        if (text->at[i] < ' ' || text->at[i] > '~')
            return 0;
    *out = (dtls13_bytes){text->at, text->left};
    return 1;
}

/* Takes the subject, whose relative names have one attribute each. */
static int take_subject(reader *in, dtls13_bytes *common_name) {
    static const uint8_t name[] = {0x55, 4, 3};
    reader subject = take(in, SEQUENCE);
    while (subject.left > 0) {
        uint8_t tag;
        reader attribute = take_within(&subject, SET, SEQUENCE), type = take_object(&attribute);
        reader value = take_any(&attribute, &tag);
        if (subject.is_bad || !is_read(&attribute) || value.left == 0 ||
            (tag != UTF8_STRING && tag != PRINTABLE_STRING && tag != IA5_STRING))
            return 0;
        if (is_same(&type, name, sizeof name) && !take_name(common_name, &value))
            return 0;
    }
    return !subject.is_bad;
}

static int takes_key_usage(reader in) {
    reader bits = take(&in, BIT_STRING);
    if (!is_read(&in) || bits.left < 2 || bits.left > 3 || bits.at[0] > 7)
        return 0;
    unsigned unused = bits.at[0], last = bits.at[bits.left - 1];
    /* The last bit of a list of named ones is set (X.690, section 11.2.2). */
    return (last & ((1u << unused) - 1)) == 0 && (last >> unused & 1) &&
           (bits.at[1] & DIGITAL_SIGNATURE);
}

static int takes_purposes(reader in, dtls13_role role) {
    /* id-kp: 1.3.6.1.5.5.7.3; 1 is serverAuth and 2 clientAuth. */
    const uint8_t wanted[] = {0x2b, 6, 1, 5, 5, 7, 3, role == DTLS13_SERVER_ROLE ? 1 : 2};
    static const uint8_t any[] = {0x55, 0x1d, 37, 0};
    reader list = take(&in, SEQUENCE);
    int is_there = 0;
    while (list.left > 0) {
        reader purpose = take_object(&list);
        is_there |= is_same(&purpose, wanted, sizeof wanted) || is_same(&purpose, any, sizeof any);
    }
    return is_read(&in) && !list.is_bad && is_there;
}

/* Names that are text; others, such as addresses, are not for devices. */
static int takes_alternative_name(reader in, dtls13_bytes *name) {
    reader list = take(&in, SEQUENCE);
    int is_empty = list.left == 0;
    while (list.left > 0) {
        uint8_t tag;
        reader value = take_any(&list, &tag);
        dtls13_bytes other = {0};
        if (list.is_bad || (tag != DNS_NAME && tag != MAIL_ADDRESS && tag != RESOURCE) ||
            !take_name(tag == DNS_NAME ? name : &other, &value))
            return 0;
    }
    return is_read(&in) && !list.is_bad && !is_empty;
}

/* An authority's certificate, which says so here, is nobody's to speak with. */
static int takes_constraints(reader in) {
    reader constraints = take(&in, SEQUENCE);
    return is_read(&in) && is_read(&constraints);
}

/* Returns whether an extension occurs in front of this one in the list. */
static int is_repeated(reader list, const reader *type) {
    while (list.at < type->at) {
        reader other = take(&list, SEQUENCE), name = take_object(&other);
        if (name.at == type->at || list.is_bad)
            return 0;
        if (is_same(&name, type->at, type->left))
            return 1;
    }
    return 0;
}

static int take_extensions(reader *in, dtls13_role role, dtls13_bytes *name) {
    reader list = take_within(in, EXTENSIONS_FIELD, SEQUENCE), all = list;
    if (in->is_bad || list.left == 0)
        return 0;
    while (list.left > 0) {
        reader one = take(&list, SEQUENCE), type = take_object(&one);
        int is_critical = one.left > 0 && one.at[0] == BOOLEAN, is_good = 1;
        reader flag = is_critical ? take(&one, BOOLEAN) : (reader){0};
        reader value = take(&one, OCTET_STRING);
        if (list.is_bad || !is_read(&one) || is_repeated(all, &type) ||
            (is_critical && (flag.left != 1 || flag.at[0] != TRUE)))
            return 0;
        int id = type.left == 3 && type.at[0] == 0x55 && type.at[1] == 0x1d ? type.at[2] : 0;
        switch (id) {
        case KEY_USAGE:
            is_good = takes_key_usage(value);
            break;
        case EXTENDED_KEY_USAGE:
            is_good = takes_purposes(value, role);
            break;
        case ALTERNATIVE_NAME:
            is_good = takes_alternative_name(value, name);
            break;
        case BASIC_CONSTRAINTS:
            is_good = takes_constraints(value);
            break;
        default:
            is_good = !is_critical;
        }
        if (!is_good)
            return 0;
    }
    return !list.is_bad;
}

/* A key of the build's algorithm. */
static int take_key(reader *in, const uint8_t **key) {
    uint8_t expected[CREDENTIAL_CERTIFICATE_BYTES];
    const uint8_t *at = read_bytes(in, sizeof expected);
    if (at == NULL)
        return 0;
    *key = at + CREDENTIAL_PREFIX_BYTES;
    credential_certificate(expected, *key);
    return crypto_equal(at, expected, sizeof expected);
}

int x509_read(reader in, dtls13_role role, x509 *out) {
    dtls13_bytes common_name = {0};
    reader certificate = take(&in, SEQUENCE);
    *out = (x509){.body = certificate};
    reader body = take(&certificate, SEQUENCE);
    if (!is_read(&in) || certificate.is_bad)
        return 0;
    out->body.left -= certificate.left;
    int has_algorithm = take_algorithm(&certificate);
    out->signature = take(&certificate, BIT_STRING);
    if (!has_algorithm || !is_read(&certificate) || read_number(&out->signature, 1) != 0 ||
        out->signature.is_bad)
        return 0;
    if (!take_version(&body) || !take_serial(&body) || !take_algorithm(&body))
        return 0;
    out->issuer = body;
    take(&body, SEQUENCE);
    out->issuer.left -= body.left;
    reader validity = take(&body, SEQUENCE);
    if (!take_time(&validity, &out->peer.not_before) ||
        !take_time(&validity, &out->peer.not_after) || !is_read(&validity) ||
        !take_subject(&body, &common_name) || !take_key(&body, &out->public_key) ||
        !take_extensions(&body, role, &out->peer.name) || !is_read(&body))
        return 0;
    if (out->peer.name.at == NULL)
        out->peer.name = common_name;
    return out->peer.name.at != NULL;
}

#endif
