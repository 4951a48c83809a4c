#include "handshake.h"

#include "crypto.h"
#include "provisioning.h"

static uint16_t get16(const uint8_t *at) {
    return (uint16_t)(at[0] | at[1] << 8);
}

void handshake_begin(handshake *h, uint16_t mote, uint16_t authority) {
    h->kind = MESSAGE_DERIVATION;
    h->mote[0] = (uint8_t)mote;
    h->mote[1] = (uint8_t)(mote >> 8);
    h->authority[0] = (uint8_t)authority;
    h->authority[1] = (uint8_t)(authority >> 8);
}

void handshake_derive(handshake *h) {
    uint8_t secret[PROVISIONED_BYTES];
    provisioned_secret(get16(h->mote), secret);
    /* The nonce is the first 12 of the authority's fresh bytes; the tag covers all of them. */
    message_seal(&h->kind, h->authority_fresh, secret);
    crypto_wipe(secret, sizeof secret);
}
