#include "star.h"

#include "boots.h"
#include "crypto.h"
#include "keydb.h"
#include "policy.h"
#include "provisioning.h"

/* Defined by the linker, around the section of policies. */
extern const star_policy __start_registry_star_policies[] __attribute__((weak));
extern const star_policy __stop_registry_star_policies[] __attribute__((weak));

enum { AGE_MASK = 3, POLICY_SHIFT = 2, LABEL_SHIFT = 5 };

static struct {
    uint16_t peer, first;
    uint8_t label;
} flows[STAR_FLOWS];
static uint8_t flow_count;

static struct {
    const star_policy *policy; /* null: none */
    uint8_t key_id;
    uint8_t age;
    bool is_off;
} labels[STAR_LABELS];

static struct {
    uint16_t from; /* 0: free */
    uint16_t boots;
    uint32_t count;
} peers[STAR_PEERS];

static uint32_t sent;

static bool is(uint16_t wanted, uint16_t what) {
    return wanted == STAR_ANY || wanted == what;
}

bool star_flow(uint16_t peer, uint16_t first, uint8_t label) {
    if (flow_count == STAR_FLOWS || label >= STAR_LABELS)
        return false;
    flows[flow_count].peer = peer;
    flows[flow_count].first = first;
    flows[flow_count].label = label;
    flow_count++;
    return true;
}

uint8_t star_label(uint16_t peer, const uint8_t *payload, uint8_t length) {
    for (uint8_t i = 0; i < flow_count; i++)
        if (is(flows[i].peer, peer) &&
            (flows[i].first == STAR_ANY || (length > 0 && flows[i].first == payload[0])))
            return flows[i].label;
    return 0;
}

bool star_change(uint8_t label, uint8_t policy, uint8_t key_id) {
    const star_policy *found = 0;
    for (const star_policy *p = __start_registry_star_policies; p != __stop_registry_star_policies;
         p++)
        if (p->id == policy)
            found = p;
    if (label >= STAR_LABELS || (found == 0 && policy != STAR_NO_POLICY))
        return false;
    labels[label].policy = found;
    labels[label].key_id = key_id;
    labels[label].age++;
    return true;
}

void star_set_age(uint8_t label, uint8_t age) {
    if (label < STAR_LABELS)
        labels[label].age = age;
}

bool star_enable(uint8_t label, bool on) {
    if (label >= STAR_LABELS)
        return false;
    labels[label].is_off = !on;
    labels[label].age++;
    return true;
}

static const star_policy *policy_of(uint8_t label) {
    return labels[label].is_off ? 0 : labels[label].policy;
}

uint8_t star_policy_id(uint8_t label) {
    const star_policy *policy = label < STAR_LABELS ? policy_of(label) : 0;
    return policy == 0 ? STAR_NO_POLICY : policy->id;
}

static uint8_t control_of(uint8_t label) {
    return (uint8_t)(label << LABEL_SHIFT | star_policy_id(label) << POLICY_SHIFT |
                     (labels[label].age & AGE_MASK));
}

uint8_t star_secure(uint16_t to, const uint8_t *payload, uint8_t length, uint8_t *packet,
                    uint8_t room) {
    uint8_t label = star_label(to, payload, length);
    const star_policy *policy = policy_of(label);
    uint8_t overhead = policy == 0 ? 0 : policy->overhead;
    if (STAR_CONTROL_BYTES + length + overhead > room)
        return 0;
    packet[0] = control_of(label);
    for (uint8_t i = 0; i < length; i++)
        packet[STAR_CONTROL_BYTES + i] = payload[i];
    if (policy != 0) {
        star_context context = {.key = keydb_get(labels[label].key_id, KEYDB_GROUP),
                                .from = provisioned_address(),
                                .to = to,
                                .control = packet[0],
                                .boots = boots_count(),
                                .count = sent + 1};
        if (context.key == 0 || context.count == 0 ||
            !policy->secure(&context, packet + STAR_CONTROL_BYTES, length))
            return 0;
        sent = context.count;
    }
    return (uint8_t)(STAR_CONTROL_BYTES + length + overhead);
}

/* Returns whether a packet is later than all earlier ones of its sender. */
static bool is_new(const star_context *context) {
    uint8_t place = 0;
    while (place < STAR_PEERS && peers[place].from != 0 && peers[place].from != context->from)
        place++;
    if (place == STAR_PEERS)
        return false;
    if (peers[place].from == context->from &&
        (context->boots < peers[place].boots ||
         (context->boots == peers[place].boots && context->count <= peers[place].count)))
        return false;
    peers[place].from = context->from;
    peers[place].boots = context->boots;
    peers[place].count = context->count;
    return true;
}

static bool unsecure(uint16_t from, uint16_t to, uint8_t *packet, uint8_t *length) {
    if (*length < STAR_CONTROL_BYTES || from == 0)
        return false;
    uint8_t label = packet[0] >> LABEL_SHIFT;
    if (label >= STAR_LABELS || packet[0] != control_of(label))
        return false;
    const star_policy *policy = policy_of(label);
    uint8_t overhead = policy == 0 ? 0 : policy->overhead;
    if (*length < STAR_CONTROL_BYTES + overhead)
        return false;
    uint8_t own = (uint8_t)(*length - STAR_CONTROL_BYTES - overhead);
    if (policy != 0) {
        star_context context = {.key = keydb_get(labels[label].key_id, KEYDB_GROUP),
                                .from = from,
                                .to = to,
                                .control = packet[0]};
        if (context.key == 0 || !policy->unsecure(&context, packet + STAR_CONTROL_BYTES, own) ||
            (policy->is_authenticated && !is_new(&context)))
            return false;
    }
    for (uint8_t i = 0; i < own; i++)
        packet[i] = packet[STAR_CONTROL_BYTES + i];
    *length = own;
    /* The payload must belong to the flow that the sender claims. */
    return star_label(from, packet, own) == label;
}

bool star_unsecure(uint16_t from, uint16_t to, uint8_t *packet, uint8_t *length) {
    uint8_t whole = *length;
    bool is_right = unsecure(from, to, packet, length);
    if (!is_right)
        crypto_wipe(packet, whole);
    return is_right;
}
