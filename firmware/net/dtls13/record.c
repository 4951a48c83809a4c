/* Records (RFC 9147, section 4): plain ones in epoch 0, else with the unified header and encrypted
   record numbers. */
#include "internal.h"

#include "suite.h"

/* The unified header's first byte (section 4). */
enum {
    FIXED_MASK = 0xe0,
    FIXED = 0x20,
    HAS_CID = 0x10,
    LONG_NUMBER = 8,
    HAS_LENGTH = 4,
    EPOCH = 3
};

const uint8_t *read_bytes(reader *in, size_t count) {
    const uint8_t *at = in->at;
    if (in->left < count) {
        in->is_bad = 1;
        in->left = 0;
        return NULL;
    }
    in->at += count;
    in->left -= count;
    return at;
}

OUT_OF_LINE uint32_t read_number(reader *in, unsigned bytes) {
    const uint8_t *at = read_bytes(in, bytes);
    uint32_t number = 0;
    for (unsigned i = 0; at != NULL && i < bytes; i++)
        number = number << 8 | at[i];
    return number;
}

OUT_OF_LINE reader read_vector(reader *in, unsigned length_bytes) {
    size_t length = read_number(in, length_bytes);
    const uint8_t *at = read_bytes(in, length);
    return (reader){at, at == NULL ? 0 : length, in->is_bad};
}

OUT_OF_LINE uint8_t *write_number(uint8_t *out, uint32_t number, unsigned bytes) {
    for (unsigned i = bytes; i-- > 0; number >>= 8)
        out[i] = (uint8_t)number;
    return out + bytes;
}

OUT_OF_LINE uint8_t *write_bytes(uint8_t *out, const uint8_t *bytes, size_t length) {
    for (size_t i = 0; i < length; i++)
        *out++ = bytes[i];
    return out;
}

uint8_t *write_extension(uint8_t *out, enum extension type, size_t length) {
    return write_number(write_number(out, type, 2), (uint32_t)length, 2);
}

/* XORs the record number with a mask made of the ciphertext's first bytes (section 4.2.3). */
OUT_OF_LINE static void mask_number(const dtls13_keys *keys, uint8_t *number, size_t number_bytes,
                                    const uint8_t sample[SAMPLE]) {
    block_cipher_ctx cipher;
    uint8_t mask[SAMPLE];
    block_cipher_init(&cipher, keys->sn_key);
    block_cipher_encrypt(&cipher, mask, sample, 1);
    for (size_t i = 0; i < number_bytes; i++)
        number[i] ^= mask[i];
    crypto_wipe(&cipher, sizeof cipher);
}

/* Encrypts or decrypts in place; the tag follows the text. */
OUT_OF_LINE static crypto_status crypt(const dtls13_keys *keys, uint32_t sequence,
                                       const uint8_t *header, size_t header_length, uint8_t *text,
                                       size_t length, int decrypt) {
    uint8_t nonce[DTLS13_NONCE_BYTES];
    suite_ctx cipher;
    crypto_status status;
    const aead_message m = {nonce, sizeof nonce, header,        header_length,   text,
                            text,  length,       text + length, DTLS13_TAG_BYTES};
    write_bytes(nonce, keys->iv, sizeof nonce);
    for (unsigned i = 0; i < 4; i++)
        nonce[sizeof nonce - 1 - i] ^= (uint8_t)(sequence >> (8 * i));
    suite_init(&cipher, keys->key);
    status = decrypt ? suite_decrypt(&cipher, &m) : suite_encrypt(&cipher, &m);
    crypto_wipe(&cipher, sizeof cipher);
    return status;
}

size_t record_header(const dtls13 *tls, uint8_t epoch) {
    if (epoch == 0)
        return DTLS13_PLAIN_HEADER_BYTES;
    return 1u + tls->cid_length + tls->config->sequence_bytes;
}

size_t record_overhead(const dtls13 *tls, uint8_t epoch) {
    return record_header(tls, epoch) + (epoch == 0 ? 0 : 1 + DTLS13_TAG_BYTES);
}

OUT_OF_LINE size_t record_seal(dtls13 *tls, uint8_t epoch, enum content type, uint8_t *out,
                               const uint8_t *content, size_t length, uint32_t *sequence) {
    size_t head = record_header(tls, epoch), bytes = tls->config->sequence_bytes;
    uint8_t *at = out + head;
    if (content != at)
        __builtin_memmove(at, content, length);
    if (epoch == 0) {
        *sequence = tls->plain_next++;
        out[0] = (uint8_t)type;
        write_number(out + 1, VERSION_LEGACY, 2);
        write_number(out + 3, 0, 4); /* epoch, and the upper half of the 48-bit number */
        write_number(out + 7, *sequence, 4);
        write_number(out + 11, (uint32_t)length, 2);
        return head + length;
    }
    dtls13_keys *keys = &tls->write[epoch == EPOCH_HANDSHAKE ? 0 : 1];
    if (keys->epoch != epoch || keys->next >= RECORDS_MAX)
        return 0;
    *sequence = keys->next++;
    /* A record is the last one of its datagram, so its length is not told. */
    out[0] = (uint8_t)(FIXED | (tls->cid_length > 0 ? HAS_CID : 0) |
                       (bytes == 2 ? LONG_NUMBER : 0) | (epoch & EPOCH));
    write_bytes(out + 1, tls->cid, tls->cid_length);
    write_number(out + head - bytes, *sequence, (unsigned)bytes);
    at[length++] = (uint8_t)type;
    while (length + DTLS13_TAG_BYTES < SAMPLE)
        at[length++] = 0; /* padding */
    crypt(keys, *sequence, out, head, at, length, 0);
    mask_number(keys, at - bytes, bytes, at);
    return head + length + DTLS13_TAG_BYTES;
}

static int open_plain(uint8_t **datagram, size_t *length, record *out) {
    reader in = {*datagram, *length, 0};
    out->type = (uint8_t)read_number(&in, 1);
    uint32_t version = read_number(&in, 2), epoch = read_number(&in, 2), high = read_number(&in, 2);
    out->sequence = read_number(&in, 4);
    reader content = read_vector(&in, 2);
    *datagram += *length - in.left;
    *length = in.left;
    out->epoch = 0;
    out->at = (uint8_t *)content.at;
    out->length = content.left;
    /* Some implementations put DTLS 1.0 into the first ClientHello's record. */
    return !content.is_bad && version >> 8 == 0xfe && epoch == 0 && high == 0 && content.left > 0;
}

/* Returns the record number closest to the expected one (section 4.2.2). */
static uint32_t nearest(uint32_t expected, uint32_t low, unsigned bits) {
    uint32_t span = 1ul << bits, number = (expected & ~(span - 1)) | low;
    if (number > expected + span / 2 && number >= span)
        number -= span;
    else if (number + span / 2 < expected)
        number += span;
    return number;
}

/* Returns whether a record number is new; marks it as received if it is authentic. */
OUT_OF_LINE static int is_new(dtls13_keys *keys, uint32_t sequence, int is_authentic) {
    if (sequence >= keys->next) {
        uint32_t by = sequence - keys->next + 1;
        if (is_authentic) {
            keys->window = (by < 32 ? keys->window << by : 0) | 1;
            keys->next = sequence + 1;
        }
        return 1;
    }
    uint32_t back = keys->next - 1 - sequence;
    if (back >= 32 || (keys->window >> back & 1))
        return 0;
    if (is_authentic)
        keys->window |= 1ul << back;
    return 1;
}

OUT_OF_LINE int record_open(dtls13 *tls, uint8_t **datagram, size_t *length, record *out) {
    uint8_t *head = *datagram, first = head[0], *number;
    const dtls13_config *config = tls->config;
    size_t number_bytes = first & LONG_NUMBER ? 2 : 1, head_length;
    if ((first & FIXED_MASK) != FIXED)
        return open_plain(datagram, length, out);
    reader in = {head + 1, *length - 1, 0}, content;
    int is_ours = !(first & HAS_CID) == !tls->cid_here;
    const uint8_t *cid = first & HAS_CID ? read_bytes(&in, config->cid.length) : NULL;
    number = (uint8_t *)in.at;
    read_bytes(&in, number_bytes);
    if (first & HAS_LENGTH)
        content = read_vector(&in, 2);
    else {
        content = in;
        in.left = 0;
    }
    *datagram += *length - in.left;
    *length = in.left;
    if (content.is_bad || content.left < SAMPLE || !is_ours)
        return 0;
    for (size_t i = 0; cid != NULL && i < config->cid.length; i++)
        if (cid[i] != config->cid.at[i])
            return 0;
    dtls13_keys *keys = &tls->read[(first & EPOCH) == EPOCH_HANDSHAKE ? 0 : 1];
    if (keys->epoch == 0 || (keys->epoch & EPOCH) != (first & EPOCH))
        return 0;
    head_length = (size_t)(content.at - head);
    out->at = (uint8_t *)content.at;
    mask_number(keys, number, number_bytes, out->at);
    reader clear = {number, number_bytes, 0};
    out->sequence = nearest(keys->next, read_number(&clear, (unsigned)number_bytes),
                            8 * (unsigned)number_bytes);
    out->length = content.left - DTLS13_TAG_BYTES;
    if (out->sequence >= 1ul << 31 || !is_new(keys, out->sequence, 0))
        return 0;
    if (crypt(keys, out->sequence, head, head_length, out->at, out->length, 1) != CRYPTO_OK) {
        tls->refused++;
        return 0;
    }
    is_new(keys, out->sequence, 1);
    while (out->length > 0 && out->at[out->length - 1] == 0)
        out->length--;
    if (out->length == 0)
        return 0;
    out->type = out->at[--out->length];
    out->epoch = keys->epoch;
    return 1;
}

size_t dtls13_send(dtls13 *tls, uint8_t *datagram, const uint8_t *data, size_t length) {
    uint32_t sequence;
    if (tls->state != CONNECTED)
        return 0;
    return record_seal(tls, EPOCH_DATA, APPLICATION_DATA, datagram, data, length, &sequence);
}
