#include "security.h"

#include "ccm-strategy.h"

/* Enough of a frame in a slot for any header with the elements of an acknowledgement. */
enum { HEADER_BYTES = FRAME_HEADER_BYTES_MAX + 11 };
/* Enough for most headers: control, sequence number, one PAN ID, two extended addresses, level, key
   index. Where frames are processed while they arrive, only longer headers wait for more bytes. */
enum { SHORT_HEADER_BYTES = 2 + 1 + 2 + 16 + 2 };

/* A device and what was last received from it. */
typedef struct {
    security_device device;
    uint32_t counters[SECURITY_KEYS]; /* lowest accepted, by key (secKeyDeviceFrameCounter) */
    security_asn slots;               /* lowest accepted */
} known_device;

static struct {
    uint8_t own[8];
    uint8_t keys, devices, rules;
    security_key key[SECURITY_KEYS];
    known_device device[SECURITY_DEVICES];
    security_rule rule[SECURITY_RULES];
    const security_key *prepared;
} tables;

uint32_t security_counter;

static bool same(const uint8_t *a, const uint8_t *b, uint8_t count) {
    for (; count > 0; count--)
        if (*a++ != *b++)
            return false;
    return true;
}

void security_init(const uint8_t own[8]) {
    tables.keys = tables.devices = tables.rules = 0;
    tables.prepared = 0;
    for (uint8_t i = 0; i < 8; i++)
        tables.own[i] = own[i];
}

bool security_add_key(const security_key *key) {
    if (tables.keys == SECURITY_KEYS)
        return false;
    tables.key[tables.keys++] = *key;
    ccm_strategy_keep(key->key);
    return true;
}

bool security_add_device(const security_device *device) {
    if (tables.devices == SECURITY_DEVICES)
        return false;
    tables.device[tables.devices++] = (known_device){.device = *device};
    return true;
}

bool security_add_rule(const security_rule *rule) {
    if (tables.rules == SECURITY_RULES)
        return false;
    tables.rule[tables.rules++] = *rule;
    return true;
}

/* Section 9.2.4: keys of mode 0 are looked up by the other side's address, others by the identifier
   in the frame. */
static const security_key *find_key(const frame_security *security, const frame_address *other) {
    for (uint8_t i = 0; i < tables.keys; i++) {
        const security_key *key = &tables.key[i];
        if (key->mode != security->key_id_mode)
            continue;
        if (key->mode == 0) {
            if (key->device.pan == other->pan && frame_same_address(&key->device, other))
                return key;
        } else if (key->index == security->key_index && same(key->source, security->key_source,
                                                             key->mode == 1   ? 0
                                                             : key->mode == 2 ? 4
                                                                              : 8)) {
            return key;
        }
    }
    return 0;
}

/* Section 9.2.5. */
static known_device *find_device(const frame_address *address) {
    for (uint8_t i = 0; i < tables.devices; i++) {
        const security_device *d = &tables.device[i].device;
        bool found = false;
        if (address->mode == ADDRESS_EXTENDED)
            found = same(d->extended_address, address->bytes, 8);
        else if (address->mode == ADDRESS_SHORT)
            found = d->pan == address->pan &&
                    d->short_address == (uint16_t)(address->bytes[0] | address->bytes[1] << 8);
        if (found)
            return &tables.device[i];
    }
    return 0;
}

/* Sections 9.3.2.2 and 9.3.2.3: the nonce ends with the frame counter and the level or, in TSCH,
   with the slot number. In TSCH a short address is extended to 8 bytes with the company identifier
   of IEEE 802.15; otherwise the same device's extended address replaces it. */
static void make_nonce(uint8_t *nonce, const frame_security *security, const frame_address *source,
                       const uint8_t *extended, const security_asn *asn) {
    if (security->asn_in_nonce && source->mode == ADDRESS_SHORT) {
        nonce[0] = 0xba;
        nonce[1] = 0x55;
        nonce[2] = 0xec;
        nonce[3] = 0;
        nonce[4] = (uint8_t)(source->pan >> 8);
        nonce[5] = (uint8_t)source->pan;
        nonce[6] = source->bytes[1];
        nonce[7] = source->bytes[0];
    } else {
        const uint8_t *from = source->mode == ADDRESS_EXTENDED ? source->bytes : extended;
        for (uint8_t i = 0; i < 8; i++)
            nonce[i] = from[7 - i];
    }
    uint32_t number = security->asn_in_nonce ? asn->low : security->counter;
    uint8_t *at = nonce + 8;
    if (security->asn_in_nonce)
        *at++ = asn->high;
    *at++ = (uint8_t)(number >> 24);
    *at++ = (uint8_t)(number >> 16);
    *at++ = (uint8_t)(number >> 8);
    *at++ = (uint8_t)number;
    if (!security->asn_in_nonce)
        *at = security->level;
}

static radio_ccm transformation(const security_key *key, const uint8_t *nonce,
                                const frame_header *header) {
    uint8_t level = header->security.level;
    return (radio_ccm){.key = key->key,
                       .nonce = nonce,
                       .open = header->open,
                       .mic_bytes = frame_mic_bytes(level),
                       .encrypt = frame_encrypts(level)};
}

security_status security_prepare(frame_header *header, uint8_t bytes) {
    frame_security *security = &header->security;
    tables.prepared = 0;
    if (security->level == 0)
        return SECURITY_OK;
    if (header->version == FRAME_VERSION_2003 || security->level > 7 || security->key_id_mode > 3 ||
        (security->counter_suppressed && !security->asn_in_nonce))
        return SECURITY_UNSUPPORTED;
    if (bytes + frame_security_bytes(security) + frame_mic_bytes(security->level) >
        RADIO_FRAME_BYTES_MAX)
        return SECURITY_TOO_LONG;
    const security_key *key = find_key(security, &header->destination);
    if (key == 0)
        return SECURITY_UNAVAILABLE_KEY;
    if (!security->counter_suppressed) {
        if (security_counter == UINT32_MAX)
            return SECURITY_COUNTER_ERROR;
        security->counter = security_counter++;
    }
    tables.prepared = key;
    return SECURITY_OK;
}

void security_load(const frame_header *header, const security_asn *asn, uint8_t *frame,
                   uint8_t length) {
    if (header->security.level == 0) {
        radio_load(frame, length);
        return;
    }
    uint8_t nonce[SECURITY_NONCE_BYTES];
    make_nonce(nonce, &header->security, &header->source, tables.own, asn);
    radio_ccm ccm = transformation(tables.prepared, nonce, header);
    ccm_strategy_load(&ccm, frame, length);
}

#if CCM_STRATEGY_MAKES_AHEAD
void security_ahead(uint8_t place, const frame_header *header, const security_asn *asn,
                    uint8_t blocks, uint8_t length) {
    bool own = same(header->source.bytes, tables.own, 8);
    const security_key *key =
        find_key(&header->security, own ? &header->destination : &header->source);
    if (key == 0)
        return;
    uint8_t nonce[SECURITY_NONCE_BYTES];
    make_nonce(nonce, &header->security, &header->source, tables.own, asn);
    radio_ccm ccm = transformation(key, nonce, header);
    ccm_strategy_ahead(place, &ccm, blocks, length);
}
#endif

/* Sections 9.2.6 and 9.2.7: whether a rule allows this level, or the device is exempt. */
static bool level_passes(const frame_header *header, const uint8_t *frame,
                         const known_device *device) {
    uint8_t level = header->security.level;
    for (uint8_t i = 0; i < tables.rules; i++) {
        const security_rule *rule = &tables.rule[i];
        if (rule->frame_type != header->type)
            continue;
        /* The command identifier is the last unencrypted byte. In frames of 2015 it is private, and
           unknown while it is encrypted. */
        if (header->type == FRAME_COMMAND && header->version != FRAME_VERSION_2015 &&
            rule->command != frame[header->open - 1])
            continue;
        if ((rule->levels >> level & 1) != 0)
            return true;
        if (level == 0 && rule->exempt_unsecured && device != 0 && device->device.exempt)
            return true;
    }
    return false;
}

static bool slot_before(const security_asn *a, const security_asn *b) {
    return a->high != b->high ? a->high < b->high : a->low < b->low;
}

/* Makes all checks that are possible before the MIC is computed, in the standard's order. */
__attribute__((noinline)) static security_status
check(const frame_header *header, const uint8_t *frame, const security_asn *asn,
      const frame_address *source, const security_key **key, known_device **device) {
    const frame_security *security = &header->security;
    *device = find_device(source);
    if (security->level == 0)
        return level_passes(header, frame, *device) ? SECURITY_OK : SECURITY_IMPROPER_LEVEL;
    if ((security->counter_suppressed && !security->asn_in_nonce) ||
        (security->asn_in_nonce && asn == 0))
        return SECURITY_UNSUPPORTED;
    *key = find_key(security, source);
    if (*key == 0)
        return SECURITY_UNAVAILABLE_KEY;
    if (*device == 0)
        return SECURITY_UNAVAILABLE_DEVICE;
    if (!level_passes(header, frame, *device))
        return SECURITY_IMPROPER_LEVEL;
    if (((*key)->frame_types >> header->type & 1) == 0)
        return SECURITY_IMPROPER_KEY_TYPE;
    bool replayed = security->asn_in_nonce
                        ? slot_before(asn, &(*device)->slots)
                        : security->counter == UINT32_MAX ||
                              security->counter < (*device)->counters[*key - tables.key];
    return replayed ? SECURITY_COUNTER_ERROR : SECURITY_OK;
}

/* Reads the slot number from a beacon that is not encrypted (section 6.3.6), for a device that has
   not joined yet. The MIC then shows that the number is authentic, but not that it is fresh. */
static bool beacon_slot(const frame_header *header, const uint8_t *frame, uint8_t there,
                        security_asn *asn) {
    frame_element group, element;
    const uint8_t *end = frame + (there < header->mic ? there : header->mic);
    if (header->type != FRAME_BEACON || !header->has_payload_elements ||
        frame_encrypts(header->security.level))
        return false;
    const uint8_t *from = frame + header->payload_elements;
    if (!frame_payload_element(from, end, ELEMENT_MLME, &group) ||
        !frame_nested_element(group.content, group.content + group.length, NESTED_SYNCHRONIZATION,
                              false, &element) ||
        element.length != 6)
        return false;
    asn->low = (uint32_t)element.content[3] << 24 | (uint32_t)element.content[2] << 16 |
               (uint32_t)element.content[1] << 8 | element.content[0];
    asn->high = element.content[4];
    return true;
}

security_status security_receive(const security_asn *asn, const frame_address *implied,
                                 uint8_t *frame, frame_header *header, radio_reception *reception) {
    uint8_t wanted = CCM_STRATEGY_READS_ALL || asn == 0 ? RADIO_FRAME_BYTES_MAX
                     : CCM_STRATEGY_STREAMS             ? SHORT_HEADER_BYTES
                                                        : HEADER_BYTES;
    uint8_t length = ccm_strategy_peek(frame, wanted, reception);
    uint8_t there = length < wanted ? length : wanted;
    bool parsed = length > 0 && frame_parse(frame, there, length, header);
    if (CCM_STRATEGY_STREAMS && !parsed && there == SHORT_HEADER_BYTES) {
        ccm_strategy_peek(frame, HEADER_BYTES, reception);
        there = length < HEADER_BYTES ? length : HEADER_BYTES;
        parsed = frame_parse(frame, there, length, header);
    }
    if (!parsed)
        return SECURITY_NO_FRAME;
    security_asn beacons;
    if (asn == 0 && header->security.asn_in_nonce && beacon_slot(header, frame, there, &beacons))
        asn = &beacons;
    const frame_address *source = &header->source;
    if (source->mode == ADDRESS_NONE && implied != 0)
        source = implied;
    const security_key *key = 0;
    known_device *device;
    security_status status = check(header, frame, asn, source, &key, &device);
    if (status != SECURITY_OK)
        return status;
    if (header->security.level == 0)
        return ccm_strategy_take(frame, length, reception) ? SECURITY_OK : SECURITY_NO_FRAME;

    uint8_t nonce[SECURITY_NONCE_BYTES];
    make_nonce(nonce, &header->security, source, device->device.extended_address, asn);
    radio_ccm ccm = transformation(key, nonce, header);
    if (!ccm_strategy_open(&ccm, frame, length, reception))
        return SECURITY_ERROR;
    if (header->security.asn_in_nonce) {
        device->slots = *asn;
        if (++device->slots.low == 0)
            device->slots.high++;
    } else {
        device->counters[key - tables.key] = header->security.counter + 1;
    }
    return SECURITY_OK;
}
