/* The operations sec1 to sec4 of sciancalepore-2016, figure 2, for the command loop: securing and
   unsecuring a data frame and its acknowledgement. The slot `message` holds the slot number, five
   bytes little-endian, then a payload or a frame; `output` gets the frame or the payload. Transfers
   to and from the radio are not included. */
#include <string.h>

#include "ccm-strategy.h"
#include "hal.h"
#include "harness.h"
#include "security.h"

_Static_assert(CCM_STRATEGY_READS_ALL && !CCM_STRATEGY_STREAMS, "frames are secured in memory");

enum { OWN = 1, PEER = 2, PAN = 0x4a4d, KEY_INDEX = 2, SEQUENCE = 7, ASN_BYTES = 5 };
/* Frame control, sequence number, one PAN ID, and two extended addresses. */
enum { HEADER_BYTES = 2 + 1 + 2 + 2 * ADDRESS_EXTENDED_BYTES };
enum { SLOT_BYTES = 160, MESSAGE = 0, OUTPUT = 1 };
static HAL_NOINIT uint8_t message_bytes[SLOT_BYTES], output_bytes[SLOT_BYTES];
slot slots[] = {{message_bytes, 0, SLOT_BYTES}, {output_bytes, 0, SLOT_BYTES}};
const uint8_t slot_count = 2;
const uint16_t slots_cleared = 1 << OUTPUT;
slot *const slot_message = &slots[MESSAGE];
slot *const slot_output = &slots[OUTPUT];
const slot *const slot_pieces = NULL;
static uint8_t nothing_kept;
void *const kind_context = &nothing_kept;
void *const kind_saved_context = &nothing_kept;
const uint16_t kind_context_bytes = 0;

static uint8_t frame[RADIO_FRAME_BYTES_MAX], frame_bytes;

void __wrap_radio_load(const uint8_t *from, uint8_t length);
uint8_t __wrap_radio_read(uint8_t *to, radio_reception *reception);

/* `from` is always `frame`. */
void __wrap_radio_load(const uint8_t *from, uint8_t length) {
    (void)from;
    frame_bytes = length;
}

/* `to` is always `frame`. */
uint8_t __wrap_radio_read(uint8_t *to, radio_reception *reception) {
    (void)to, (void)reception;
    return frame_bytes;
}

static frame_address address_of(uint8_t mote) {
    return (frame_address){ADDRESS_EXTENDED, PAN, {mote, 0, 0, 0, 0, 0x4d, 0x4a, 0x02}};
}

static const uint8_t key[SECURITY_KEY_BYTES] = {0xde, 0xad, 0xbe, 0xef, 0xfa, 0xce, 0xca, 0xfe,
                                                0xde, 0xad, 0xbe, 0xef, 0xfa, 0xce, 0xca, 0xfe};

static security_asn asn;
static frame_header header;

/* Starts the radio, whose AES a strategy may use. */
static void start(void) {
    static bool is_up;
    if (!is_up) {
        is_up = radio_init();
        frame_address own = address_of(OWN), peer = address_of(PEER);
        security_key entry = {.key = key,
                              .mode = 1,
                              .index = KEY_INDEX,
                              .frame_types = 1 << FRAME_DATA | 1 << FRAME_ACK};
        security_device device = {.pan = PAN, .short_address = 0xfffe};
        memcpy(device.extended_address, peer.bytes, sizeof device.extended_address);
        security_rule data = {.frame_type = FRAME_DATA, .levels = 1u << TSCH_LEVEL};
        security_rule acknowledgements = {.frame_type = FRAME_ACK, .levels = 1u << TSCH_LEVEL};
        security_init(own.bytes);
        security_add_key(&entry);
        security_add_device(&device);
        security_add_rule(&data);
        security_add_rule(&acknowledgements);
    }
    asn = (security_asn){.high = message_bytes[ASN_BYTES - 1]};
    for (uint8_t i = ASN_BYTES - 1; i-- > 0;)
        asn.low = asn.low << 8 | message_bytes[i];
}

static crypto_status begin(uint8_t type) {
    start();
    header = (frame_header){.type = type,
                            .version = FRAME_VERSION_2015,
                            .acknowledge = type == FRAME_DATA,
                            .elements = type == FRAME_ACK,
                            .sequence = SEQUENCE,
                            .source = address_of(OWN),
                            .destination = address_of(PEER),
                            .security = {.level = TSCH_LEVEL,
                                         .key_id_mode = 1,
                                         .counter_suppressed = true,
                                         .asn_in_nonce = true,
                                         .key_index = KEY_INDEX}};
    return CRYPTO_OK;
}

static crypto_status begin_data(void) {
    return begin(FRAME_DATA);
}

static crypto_status begin_ack(void) {
    return begin(FRAME_ACK);
}

/* Finds the key and writes the header. */
static bool write(uint8_t bytes) {
    if (security_prepare(&header, bytes) != SECURITY_OK)
        return false;
    header.open = frame_write(frame, &header);
    return true;
}

static crypto_status secure_data(void) {
    uint8_t length = (uint8_t)(slots[MESSAGE].length - ASN_BYTES);
    if (!write((uint8_t)(HEADER_BYTES + length)))
        return CRYPTO_BAD_LENGTH;
    memcpy(frame + header.open, message_bytes + ASN_BYTES, length);
    security_load(&header, &asn, frame, (uint8_t)(header.open + length));
    return CRYPTO_OK;
}

/* After the slot number, the message holds the time correction. */
static crypto_status secure_ack(void) {
    if (!write(HEADER_BYTES + 4))
        return CRYPTO_BAD_LENGTH;
    uint8_t *at = frame_put_header_element(frame + header.open, ELEMENT_TIME_CORRECTION, 2);
    *at++ = message_bytes[ASN_BYTES];
    *at++ = message_bytes[ASN_BYTES + 1];
    header.open = (uint8_t)(at - frame);
    security_load(&header, &asn, frame, header.open);
    return CRYPTO_OK;
}

static void show_frame(void) {
    memcpy(output_bytes, frame, frame_bytes);
    slots[OUTPUT].length = frame_bytes;
}

static crypto_status arrive(void) {
    start();
    frame_bytes = (uint8_t)(slots[MESSAGE].length - ASN_BYTES);
    memcpy(frame, message_bytes + ASN_BYTES, frame_bytes);
    return CRYPTO_OK;
}

static crypto_status unsecure(void) {
    return security_receive(&asn, NULL, frame, &header, NULL) == SECURITY_OK ? CRYPTO_OK
                                                                             : CRYPTO_BAD_TAG;
}

/* Shows the authenticated and decrypted text after the addresses. */
static void show_text(void) {
    uint8_t from = header.header_elements;
    slots[OUTPUT].length = (uint8_t)(header.mic - from);
    memcpy(output_bytes, frame + from, slots[OUTPUT].length);
}

/* In the order of part.toml. */
const operation kind_operations[] = {
    {nothing, nothing, show_nothing, false}, {begin_data, secure_data, show_frame, false},
    {arrive, unsecure, show_text, false},    {begin_ack, secure_ack, show_frame, false},
    {arrive, unsecure, show_text, false},
};
const uint8_t kind_operation_count = sizeof kind_operations / sizeof kind_operations[0];
