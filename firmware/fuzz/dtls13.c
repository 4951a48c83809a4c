/* libFuzzer target for DTLS 1.3: arbitrary datagrams in each state of either side; arbitrary
   contents of records under the right keys, which any participant has before it is authenticated;
   and valid datagrams with a few bytes changed. A side may connect only if its peer's messages are
   the right ones, and data is accepted only if it was sent.

   Best without an exchange, so that the time goes into the messages; with a credential there are
   certificates and signatures, too. Buffers are heap blocks of the exact size, so that
   AddressSanitizer sees every access beyond them. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"
#if DTLS13_X509
#include "certificates.h"
#endif

enum { ROOM = 2048, STEPS = 4, WAYS = 4 };

static const uint8_t PSK[16] = {1, 2, 3};
static dtls13_config configs[2];
/* Each side before it hears the datagram of a step: 0: the server, idle; 1: the client, waiting for
   the server's flight; 2: the server, waiting for the Finished; 3: the client, connected. */
static dtls13 before[STEPS];
static uint8_t said[STEPS][ROOM];
static size_t lengths[STEPS];

#if CREDENTIAL_SCHEME == 0x0807
#define KEYGEN ed25519_keygen
#elif CREDENTIAL_SCHEME == 0x0403
#define KEYGEN ecdsa_p256_keygen
#endif
#if CREDENTIAL_SCHEME
static uint8_t secrets[2][32], publics[2][64];
#endif

#if DTLS13_X509
static int accepts(const dtls13_peer *peer) {
    return peer->name.length > 0;
}
#endif

static void require(int condition) {
    if (!condition)
        abort();
}

static void draw(uint8_t *out, size_t length) {
    static uint8_t next;
    for (size_t i = 0; i < length; i++)
        out[i] = next++;
}

/* Gives a side a datagram; returns whether data was accepted, or it is connected newly. */
static unsigned hears(dtls13 *tls, const uint8_t *bytes, size_t length) {
    uint8_t *exact = malloc(length + !length), *at = exact;
    unsigned told = 0;
    require(exact != NULL);
    if (length > 0)
        memcpy(exact, bytes, length);
    while (length > 0) {
        dtls13_bytes data;
        size_t left = length;
        dtls13_event event = dtls13_input(tls, &at, &length, &data);
        require(length < left);
        told |= event == DTLS13_DATA ? 1u : event == DTLS13_CONNECTED ? 2u : 0;
        if (event == DTLS13_DATA)
            require(data.at >= exact && data.at + data.length <= at);
    }
    free(exact);
    for (unsigned i = 0; i < 40; i++) {
        uint8_t *datagram = malloc(tls->config == NULL ? 1200 : tls->config->datagram_bytes);
        size_t made = dtls13_output(tls, datagram);
        free(datagram);
        if (made == 0)
            break;
        require(i < 39);
    }
    dtls13_wait_ms(tls);
    return told;
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerInitialize(int *argc, char ***argv) {
    static const uint8_t cids[2] = {0x42, 0x43}, cookie_key[32] = {9};
    dtls13 client, server;
    (void)argc, (void)argv, (void)cookie_key;
    for (unsigned k = 0; k < 2; k++)
        configs[k] = (dtls13_config){.random = draw,
                                     .datagram_bytes = 1200,
                                     .psk = {PSK, sizeof PSK},
                                     .identity = {PSK, 3},
                                     .cid = {cids + k, 1},
                                     .sequence_bytes = (uint8_t)(1 + k)};
#if CREDENTIAL_SCHEME
    for (unsigned k = 0; k < 2; k++) {
        memset(secrets[k], k == 1 ? 1 : 2, sizeof secrets[k]);
        require(KEYGEN(publics[k], secrets[k]) == CRYPTO_OK);
        configs[k].secret_key = secrets[k];
        configs[k].public_key = publics[k];
#if DTLS13_X509
        configs[k].certificate =
            k == 1 ? (dtls13_bytes){client_certificate, sizeof client_certificate}
                   : (dtls13_bytes){server_certificate, sizeof server_certificate};
        configs[k].anchor_name = (dtls13_bytes){anchor_name, sizeof anchor_name};
        configs[k].anchor_key = anchor_key;
        configs[k].accepts = accepts;
#else
        configs[!k].peer_public_key = publics[k];
#endif
    }
#endif
    dtls13_start(&server, &configs[0], DTLS13_SERVER_ROLE);
    dtls13_start(&client, &configs[1], DTLS13_CLIENT_ROLE);
    for (unsigned step = 0; step < STEPS; step++) {
        dtls13 *from = step % 2 == 0 ? &client : &server, *to = step % 2 == 0 ? &server : &client;
        lengths[step] = dtls13_output(from, said[step]);
        require(lengths[step] > 0);
        before[step] = *to;
        uint8_t copy[ROOM], *at = copy;
        size_t left = lengths[step];
        memcpy(copy, said[step], left);
        while (left > 0) {
            dtls13_bytes data;
            dtls13_input(to, &at, &left, &data);
        }
    }
    require(dtls13_is_connected(&client) && dtls13_is_connected(&server));
    return 0;
}

/* A record of a step's epoch with any content, sealed with the sender's keys. */
static size_t seal(unsigned step, enum content type, uint8_t *out, const uint8_t *content,
                   size_t length) {
    /* The receiver's reading keys, as its peer writes with them. */
    dtls13 peer = before[step];
    uint32_t sequence;
    uint8_t epoch = peer.read[1].epoch != 0 ? EPOCH_DATA : peer.read[0].epoch;
    peer.config = &configs[step % 2 == 0];
    memcpy(peer.write, before[step].read, sizeof peer.write);
    peer.cid_length = before[step].cid_here ? 1 : 0;
    peer.cid[0] = before[step].config->cid.at[0];
    if (step == 2)
        epoch = EPOCH_HANDSHAKE;
    return record_seal(&peer, epoch, type, out, content, length, &sequence);
}

/* Not memcmp, whose comparisons would teach the fuzzer the right datagram. */
static int is_right(unsigned step, const uint8_t *bytes, size_t length) {
    return length == lengths[step] && crypto_equal(bytes, said[step], length);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    static uint8_t all[ROOM];
    if (size < 2 || size > 1200)
        return 0;
    unsigned way = data[0] % WAYS, step = data[0] / WAYS % STEPS;
    dtls13 tls = before[step];
    data++;
    size--;
    if (way == 0) {
        require(hears(&tls, data, size) == 0 || is_right(step, data, size));
    } else if (way == 1 && step >= 2) { /* an insider's record */
        enum content type = data[0] % 4 == 0 ? ALERT : data[0] % 4 == 1 ? ACK : HANDSHAKE;
        size_t length = seal(step, type, all, data + 1, size - 1);
        unsigned told = hears(&tls, all, length);
        require(told == 0 || size - 1 >= HEADER + HASH);
    } else if (way == 2) { /* a plain record */
        write_number(all, data[0] % 2 ? HANDSHAKE : 20 + data[0] % 8, 1);
        write_number(all + 1, VERSION_LEGACY, 2);
        memset(all + 3, 0, 8);
        write_number(all + 11, (uint32_t)size - 1, 2);
        memcpy(all + 13, data + 1, size - 1);
        require(hears(&tls, all, size + 12) == 0);
    } else { /* a valid datagram with some bytes changed, perhaps cut */
        size_t length = lengths[step];
        memcpy(all, said[step], length);
        for (size_t i = 1; i + 1 < size; i += 2)
            all[(data[i] + 251u * (data[0] >> 6)) % length] ^= data[i + 1];
        if (data[0] & 1)
            length = data[0] / 2u % length + 1;
        int is_same = is_right(step, all, length);
        unsigned told = hears(&tls, all, length);
        /* Sequence numbers of plain records and versions in them authenticate nothing. */
        require(told == 0 || is_same || step == 1);
    }
    return 0;
}
