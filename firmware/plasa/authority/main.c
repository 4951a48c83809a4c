/* The key manager and authority of PLASA: special, as in the paper, with no other role than to hear
   what motes send. */
#include "authority.h"
#include "console.h"
#include "csma.h"
#include "hal.h"
#include "manager.h"
#include "star.h"

enum { PAN = 0x504c, TURN_MS = 250 };

static void say(const char *what, uint16_t mote) {
    console_text(what);
    console_number(mote);
    console_text("\n");
}

static void renew(void) {
    uint8_t renewal[RENEWAL_BYTES];
    uint16_t epoch = (uint16_t)manager_epoch();
    if (manager_renew(KEY_DATA, renewal) &&
        csma_send(FRAME_BROADCAST, renewal, sizeof renewal) == CSMA_OK)
        say("renewed, epoch ", epoch);
}

/* Whether a message is one of the architecture's own. */
static bool take(csma_message *message) {
    uint8_t challenge[CHALLENGE_BYTES], answer[RENEWAL_BYTES];
    if (authority_hello(PLASA_MOTE, message->from, message->payload, message->length,
                        manager_epoch(), challenge)) {
        csma_send(message->from, challenge, sizeof challenge);
        return true;
    }
    if (authority_confirmation(message->from, message->payload, message->length)) {
        say("admitted ", message->from);
        /* Nobody is to be believed what was sent under keys of before. */
        renew();
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
    /* Fresh bytes may come from the radio's engine. */
    manager_start();
    star_change(0, PLASA_POLICY, KEY_DATA);
    say("authority ", PLASA_MOTE);
    for (uint16_t waited_ms = 0;; waited_ms += TURN_MS) {
        if (waited_ms >= PLASA_RENEWAL_MS) {
            renew();
            waited_ms = 0;
        }
        radio_time end = (radio_time)(radio_now() + radio_ticks(TURN_MS / 2 * 1000ul) * 2);
        for (csma_message message; csma_receive(end, &message);)
            hear(&message);
    }
}
