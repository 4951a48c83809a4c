#include "coap.h"

enum { VERSION = 1, MARKER = 0xff, BYTE = 13, WORD = 14, RESERVED = 15 };

size_t coap_read_head(const uint8_t *bytes, size_t length, coap_head *head) {
    if (length < COAP_HEAD_BYTES || bytes[0] >> 6 != VERSION)
        return 0;
    uint8_t tokens = bytes[0] & 15;
    if (tokens > COAP_TOKEN_BYTES_MAX || length < COAP_HEAD_BYTES + (size_t)tokens)
        return 0;
    head->type = bytes[0] >> 4 & 3;
    head->code = bytes[1];
    head->id = (uint16_t)(bytes[2] << 8 | bytes[3]);
    head->token_length = tokens;
    for (uint8_t i = 0; i < tokens; i++)
        head->token[i] = bytes[COAP_HEAD_BYTES + i];
    /* An empty message is a header alone (section 4.1). */
    if (head->code == COAP_EMPTY && length > COAP_HEAD_BYTES)
        return 0;
    return COAP_HEAD_BYTES + (size_t)tokens;
}

/* Reads what a half byte of an option's first byte stands for (section 3.1). */
static bool read_extended(coap_reader *in, size_t *number) {
    size_t bytes = *number == BYTE ? 1 : *number == WORD ? 2 : 0;
    if (*number == RESERVED || in->left < bytes)
        return false;
    if (*number == BYTE)
        *number = (size_t)in->at[0] + BYTE;
    else if (*number == WORD)
        *number = ((size_t)in->at[0] << 8 | in->at[1]) + 269u;
    in->at += bytes;
    in->left -= bytes;
    /* Where a size has 16 bits, the sum may have wrapped. */
    return bytes < 2 || *number >= 269;
}

coap_next coap_read(coap_reader *in, coap_option *option) {
    if (in->left == 0)
        return COAP_END;
    if (in->at[0] == MARKER) {
        in->at++;
        in->left--;
        return in->left > 0 ? COAP_END : COAP_MALFORMED;
    }
    size_t delta = in->at[0] >> 4, length = in->at[0] & 15;
    in->at++;
    in->left--;
    if (!read_extended(in, &delta) || !read_extended(in, &length) || in->left < length ||
        delta > 0xffffu - in->number)
        return COAP_MALFORMED;
    in->number = (uint16_t)(in->number + delta);
    option->number = in->number;
    option->value = in->at;
    option->length = length;
    in->at += length;
    in->left -= length;
    return COAP_OPTION;
}

void coap_write_bytes(coap_writer *out, const uint8_t *bytes, size_t length) {
    if (out->overflow || out->room < length) {
        out->overflow = true;
        return;
    }
    for (size_t i = 0; i < length; i++)
        out->at[i] = bytes[i];
    out->at += length;
    out->room -= length;
}

static void write_byte(coap_writer *out, size_t byte) {
    uint8_t one = (uint8_t)byte;
    coap_write_bytes(out, &one, 1);
}

void coap_write_head(coap_writer *out, const coap_head *head) {
    write_byte(out, (size_t)(VERSION << 6 | head->type << 4 | head->token_length));
    write_byte(out, head->code);
    write_byte(out, head->id >> 8);
    write_byte(out, head->id);
    coap_write_bytes(out, head->token, head->token_length);
}

static size_t half(size_t number) {
    return number < BYTE ? number : number < 269 ? BYTE : WORD;
}

static void write_extended(coap_writer *out, size_t number) {
    if (number >= 269) {
        write_byte(out, (number - 269) >> 8);
        write_byte(out, number - 269);
    } else if (number >= BYTE) {
        write_byte(out, number - BYTE);
    }
}

void coap_write(coap_writer *out, uint16_t number, const uint8_t *value, size_t length) {
    size_t delta = (size_t)(number - out->number);
    write_byte(out, half(delta) << 4 | half(length));
    write_extended(out, delta);
    write_extended(out, length);
    coap_write_bytes(out, value, length);
    out->number = number;
}

void coap_write_payload(coap_writer *out, const uint8_t *bytes, size_t length) {
    if (length == 0)
        return;
    write_byte(out, MARKER);
    coap_write_bytes(out, bytes, length);
}
