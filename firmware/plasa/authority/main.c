/* PLASA's key manager and authority. As in the paper it is a dedicated mote, whose only other task
   is to receive what motes send. */
#include "authority.h"
#include "console.h"
#include "csma.h"
#include "hal.h"
#include "manager.h"
#include "reconfiguration.h"
#include "star.h"

enum { PAN = 0x504c, TURN_MS = 100 };

static void say(const char *what, uint16_t mote) {
    console_text(what);
    console_number(mote);
    console_text("\n");
}

/* Broadcasts to repeat, one per turn: they are not acknowledged, and a mote that is processing one
   cannot receive another. */
enum { RENEWAL = 1, POLICY = 2 };
static uint8_t untold;

static bool broadcast(const uint8_t *message, uint8_t length) {
    return csma_send(FRAME_BROADCAST, message, length) == CSMA_OK;
}

static uint8_t renewal[RENEWAL_BYTES];

static void renew(void) {
    uint16_t epoch = (uint16_t)manager_epoch();
    if (manager_renew(KEY_DATA, renewal) && broadcast(renewal, sizeof renewal))
        say("renewed, epoch ", epoch);
}

/* Number of changes of the policy of label 0. The last one is broadcast again to motes that join
   later. */
static uint32_t changes;

static void tell_policy(void) {
    /* Policies in numerical order, cyclically; one that the program lacks changes nothing. */
    uint8_t change[RECONFIGURATION_BYTES],
        policy = (uint8_t)((PLASA_POLICY + changes) % PLASA_POLICIES);
    if (changes != 0 && reconfiguration_write(0, policy, KEY_DATA, changes, change) &&
        broadcast(change, sizeof change))
        say("policy ", policy);
}

/* Handles a message of the architecture itself; returns false for any other. */
static bool take(csma_message *message) {
    uint8_t challenge[CHALLENGE_BYTES], answer[RENEWAL_BYTES];
    if (authority_hello(PLASA_MOTE, message->from, message->payload, message->length,
                        manager_epoch(), challenge)) {
        csma_send(message->from, challenge, sizeof challenge);
        return true;
    }
    if (authority_confirmation(message->from, message->payload, message->length)) {
        say("admitted ", message->from);
        /* Packets sent under older keys must no longer be accepted. */
        renew();
        untold |= POLICY;
        return true;
    }
    if (manager_request(authority_key_id(message->from), message->payload, message->length,
                        answer)) {
        csma_send(message->from, answer, sizeof answer);
        return true;
    }
    return false;
}

static void hear(csma_message *message) {
    if (take(message))
        return;
    if (!star_unsecure(message->from, message->to, message->payload, &message->length)) {
        say("refused from ", message->from);
        /* The mote may have missed the last renewal or the policy. */
        untold = RENEWAL | POLICY;
        return;
    }
    console_text("heard ");
    for (uint8_t i = 0; i < message->length; i++)
        console_hex(message->payload[i], 2);
    say(" from ", message->from);
}

int main(void) {
    hal_init();
    if (!csma_init(PLASA_CHANNEL, PAN, PLASA_MOTE)) {
        console_text("no radio\n");
        for (;;)
            continue;
    }
    /* Fresh bytes may need the radio's AES engine. */
    manager_start();
    star_change(0, PLASA_POLICY, KEY_DATA);
    say("authority ", PLASA_MOTE);
    uint16_t since_renewal_ms = 0, since_change_ms = 0;
    for (;; since_renewal_ms += TURN_MS, since_change_ms += TURN_MS) {
        if (since_renewal_ms >= PLASA_RENEWAL_MS) {
            renew();
            since_renewal_ms = 0;
        } else if ((untold & RENEWAL) != 0) {
            if (manager_epoch() != 0)
                broadcast(renewal, sizeof renewal);
            untold &= (uint8_t)~RENEWAL;
        } else if (untold != 0) {
            tell_policy();
            untold = 0;
        }
        if (PLASA_CHANGE_MS != 0 && since_change_ms >= PLASA_CHANGE_MS) {
            changes++;
            untold |= POLICY;
            since_change_ms = 0;
        }
        radio_time end = (radio_time)(radio_now() + radio_ticks(TURN_MS / 2 * 1000ul) * 2);
        for (csma_message message; csma_receive(end, &message);)
            hear(&message);
    }
}
