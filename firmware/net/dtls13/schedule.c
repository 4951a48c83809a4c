/* The key schedule of RFC 8446, section 7, with the labels of RFC 9147, section 5.9. */
#include "internal.h"

#include "mac/hmac-sha-256.h"

static const uint8_t zeros[HASH];

OUT_OF_LINE void extract(uint8_t out[HASH], const uint8_t salt[HASH], const uint8_t *secret,
                         size_t length) {
    sha256_ctx hash;
    hmac_sha256_begin(&hash, salt);
    sha256_update(&hash, secret, length);
    hmac_sha256_end(&hash, salt, out);
}

OUT_OF_LINE void expand(uint8_t *out, size_t length, const uint8_t secret[HASH], const char *label,
                        const uint8_t *context, size_t context_length) {
    static const uint8_t prefix[6] = {'d', 't', 'l', 's', '1', '3'};
    uint8_t block[HASH], head[3] = {0, (uint8_t)length, sizeof prefix}, tail[2];
    size_t label_length = 0;
    sha256_ctx hash;
    while (label[label_length] != 0)
        label_length++;
    head[2] = (uint8_t)(sizeof prefix + label_length);
    tail[0] = (uint8_t)context_length;
    tail[1] = 1; /* HKDF-Expand's first and only block */
    hmac_sha256_begin(&hash, secret);
    sha256_update(&hash, head, sizeof head);
    sha256_update(&hash, prefix, sizeof prefix);
    sha256_update(&hash, (const uint8_t *)label, label_length);
    sha256_update(&hash, tail, 1);
    sha256_update(&hash, context, context_length);
    sha256_update(&hash, tail + 1, 1);
    hmac_sha256_end(&hash, secret, block);
    write_bytes(out, block, length);
    crypto_wipe(block, sizeof block);
}

OUT_OF_LINE void hash_empty(uint8_t out[HASH]) {
    sha256_ctx hash;
    sha256_init(&hash);
    sha256_final(&hash, out);
}

void transcript_add(dtls13 *tls, const uint8_t *message, size_t length) {
    sha256_update(&tls->transcript, message, length);
}

OUT_OF_LINE void transcript_now(const dtls13 *tls, uint8_t out[HASH]) {
    sha256_ctx copy = tls->transcript;
    sha256_final(&copy, out);
}

OUT_OF_LINE void transcript_heard(dtls13 *tls, uint8_t type, const uint8_t *body, size_t length) {
    uint8_t head[4];
    head[0] = type;
    write_number(head + 1, (uint32_t)length, 3);
    transcript_add(tls, head, sizeof head);
    transcript_add(tls, body, length);
}

OUT_OF_LINE void transcript_retry(dtls13 *tls, const uint8_t hello_hash[HASH]) {
    sha256_init(&tls->transcript);
    transcript_heard(tls, MESSAGE_HASH, hello_hash, HASH);
}

OUT_OF_LINE void next_secret(uint8_t secret[HASH], const uint8_t *ikm, size_t length) {
    uint8_t salt[HASH];
    hash_empty(salt);
    expand(salt, HASH, secret, "derived", salt, HASH);
    if (ikm == NULL) {
        ikm = zeros;
        length = HASH;
    }
    extract(secret, salt, ikm, length);
    crypto_wipe(salt, sizeof salt);
}

OUT_OF_LINE void finished_mac(uint8_t out[HASH], const uint8_t base[HASH],
                              const uint8_t transcript[HASH]) {
    uint8_t key[HASH];
    expand(key, HASH, base, "finished", NULL, 0);
    extract(out, key, transcript, HASH); /* HMAC, as Extract is */
    crypto_wipe(key, sizeof key);
}

static void early_secret(const dtls13 *tls, uint8_t out[HASH]) {
#if DTLS13_HAS_PSK
    extract(out, zeros, tls->config->psk.at, tls->config->psk.length);
#else
    (void)tls;
    extract(out, zeros, zeros, HASH);
#endif
}

#if DTLS13_HAS_PSK
OUT_OF_LINE void binder_mac(const dtls13 *tls, uint8_t out[HASH], const uint8_t transcript[HASH]) {
    uint8_t key[HASH];
    early_secret(tls, key);
    hash_empty(out);
    expand(key, HASH, key, "ext binder", out, HASH);
    finished_mac(out, key, transcript);
    crypto_wipe(key, sizeof key);
}
#endif

/* Sets a direction's keys for an epoch. */
OUT_OF_LINE static void set_keys(dtls13_keys *keys, uint8_t epoch, const uint8_t secret[HASH]) {
    expand(keys->key, sizeof keys->key, secret, "key", NULL, 0);
    expand(keys->iv, sizeof keys->iv, secret, "iv", NULL, 0);
    expand(keys->sn_key, sizeof keys->sn_key, secret, "sn", NULL, 0);
    keys->next = 0;
    keys->window = 0;
    keys->epoch = epoch;
}

/* Derives the secrets of both directions. */
OUT_OF_LINE static void traffic(dtls13 *tls, uint8_t own[HASH], uint8_t peer[HASH],
                                const char *client, const char *server,
                                const uint8_t transcript[HASH]) {
    int is_client = tls->role == DTLS13_CLIENT_ROLE;
    expand(own, HASH, tls->secret, is_client ? client : server, transcript, HASH);
    expand(peer, HASH, tls->secret, is_client ? server : client, transcript, HASH);
#ifdef DTLS13_KEY_LOG
    dtls13_key_log(client[0] == 'c' && client[2] == 'h' ? "CLIENT_HANDSHAKE_TRAFFIC_SECRET"
                                                        : "CLIENT_TRAFFIC_SECRET_0",
                   tls->client_random, is_client ? own : peer);
    dtls13_key_log(client[2] == 'h' ? "SERVER_HANDSHAKE_TRAFFIC_SECRET" : "SERVER_TRAFFIC_SECRET_0",
                   tls->client_random, is_client ? peer : own);
#endif
}

void derive_handshake(dtls13 *tls, const uint8_t *shared, size_t length) {
    uint8_t transcript[HASH];
    transcript_now(tls, transcript);
    early_secret(tls, tls->secret);
    next_secret(tls->secret, shared, length);
    traffic(tls, tls->own_secret, tls->peer_secret, "c hs traffic", "s hs traffic", transcript);
    set_keys(&tls->write[0], EPOCH_HANDSHAKE, tls->own_secret);
    set_keys(&tls->read[0], EPOCH_HANDSHAKE, tls->peer_secret);
    next_secret(tls->secret, NULL, 0);
}

void derive_application(dtls13 *tls, const uint8_t transcript[HASH]) {
    uint8_t own[HASH], peer[HASH];
    traffic(tls, own, peer, "c ap traffic", "s ap traffic", transcript);
    set_keys(&tls->write[1], EPOCH_DATA, own);
    set_keys(&tls->read[1], EPOCH_DATA, peer);
    expand(tls->exporter, HASH, tls->secret, "exp master", transcript, HASH);
    crypto_wipe(tls->secret, sizeof tls->secret);
    crypto_wipe(own, sizeof own);
    crypto_wipe(peer, sizeof peer);
}

void dtls13_export(const dtls13 *tls, const char *label, const uint8_t *context, size_t length,
                   uint8_t out[32]) {
    uint8_t secret[HASH], hash[HASH];
    sha256_ctx of_context;
    hash_empty(hash);
    expand(secret, HASH, tls->exporter, label, hash, HASH);
    sha256_init(&of_context);
    sha256_update(&of_context, context, length);
    sha256_final(&of_context, hash);
    expand(out, HASH, secret, "exporter", hash, HASH);
    crypto_wipe(secret, sizeof secret);
}
