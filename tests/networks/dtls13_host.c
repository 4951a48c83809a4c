/* DTLS 1.3 on this machine: two sides on a link with a clock of its own, which loses, repeats,
   reorders and alters datagrams. Each side is ours or, compiled with WITH_WOLFSSL, wolfSSL.

     dtls13_host client=own server=wolfssl count=100 seed=1 loss=10 repeat=0 delay=0 alter=0
   mtu=1200 records=3 cid=1 show=0 stranger=0

   With tunnel=1 wolfSSL's side is alone: it is told what it hears, and says what it sends.

   Prints `connected N failed N ...`; with show=1 each datagram, the secrets and the exporter's key.
   What must never happen aborts: two sides connected with different keys, data accepted that was
   not sent, or twice. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "dtls13.h"
#include "suite.h"
#if DTLS13_X509
#include "certificates.h"
#endif
#if CREDENTIAL_SCHEME
static uint8_t own_keys[2][32], public_keys[2][64];
#if CREDENTIAL_SCHEME == 0x0807
#define KEYGEN ed25519_keygen
#else
#define KEYGEN ecdsa_p256_keygen
#endif
#endif

enum { ROOM = 4096, QUEUE = 512, RECORDS_MAX = 64, GIVE_UP_MS = 600000 };

static struct {
    unsigned long count, seed, loss, repeat, delay, alter, mtu, records, cid, show, sequence, flood,
        plain, stranger, tunnel;
    int client_is_foreign, server_is_foreign;
} options = {.count = 1, .seed = 1, .mtu = 1200, .records = 2, .sequence = 1, .plain = 1};

static const uint8_t PSK[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
static const char LABEL[] = "EXPORTER-joulemark";

static void require(int condition, const char *what) {
    if (!condition) {
        fprintf(stderr, "%s\n", what);
        abort();
    }
}

/* ---- Randomness, from the seed ---- */

static uint64_t state;

static uint64_t next_random(void) { /* splitmix64 */
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static unsigned long below(unsigned long bound) {
    return (unsigned long)(next_random() % bound);
}

static void random_bytes(uint8_t *out, size_t length) {
    for (size_t i = 0; i < length; i++)
        out[i] = (uint8_t)next_random();
}

static void show(const char *what, const uint8_t *bytes, size_t length) {
    if (!options.show)
        return;
    printf("%s ", what);
    for (size_t i = 0; i < length; i++)
        printf("%02x", bytes[i]);
    printf("\n");
}

void dtls13_key_log(const char *label, const uint8_t *client_random, const uint8_t *secret);
void dtls13_key_log(const char *label, const uint8_t *client_random, const uint8_t *secret) {
    if (!options.show)
        return;
    printf("log %s ", label);
    for (unsigned i = 0; i < 32; i++)
        printf("%02x", client_random[i]);
    show("", secret, 32);
}

/* ---- Sides ---- */

typedef struct side side;
struct side {
    const char *name;
    side *peer;
    int is_client, is_foreign, is_connected, is_closed;
    unsigned long long due_ms; /* 0: no timer runs */
    uint8_t key[32];
    unsigned sent, heard;           /* records of data */
    uint8_t has_heard[RECORDS_MAX]; /* which of the peer's */
    dtls13 *tls;                    /* ours */
    dtls13_config config;
    void *foreign;
};

static unsigned long long now_ms;
static unsigned long made, altered;

typedef struct {
    unsigned long long at_ms;
    size_t length;
    uint8_t *bytes; /* null: free */
    int to_client;
} in_flight;

static in_flight queue[QUEUE];

static void put(const side *to, const uint8_t *bytes, size_t length, unsigned long long at_ms) {
    for (unsigned i = 0; i < QUEUE; i++)
        if (queue[i].bytes == NULL) {
            queue[i] = (in_flight){at_ms, length, malloc(length + !length), to->is_client};
            memcpy(queue[i].bytes, bytes, length);
            return;
        }
}

/* Alters a datagram in one of several ways; returns its new length. */
static size_t alter(uint8_t *bytes, size_t length) {
    static uint8_t earlier[ROOM];
    static size_t earlier_length;
    size_t before = length, at = below(length);
    switch (below(8)) {
    case 0:
        length = 1 + at;
        break;
    case 1:
        bytes[at] = (uint8_t)next_random();
        break;
    case 2: /* a part of one that was altered before */
        if (earlier_length > 0)
            memcpy(bytes + at, earlier,
                   length - at < earlier_length ? length - at : earlier_length);
        break;
    case 3: { /* more bytes at its end */
        size_t more = below(40);
        random_bytes(bytes + length, more);
        length += more;
        break;
    }
    case 4: /* a byte less within */
        memmove(bytes + at, bytes + at + 1, length - at - 1);
        length -= length > 1;
        break;
    case 5: /* lengths, offsets and numbers near the front */
        bytes[below(length < 40 ? length : 40)] ^= (uint8_t)(1u << below(8));
        break;
    default:
        bytes[at] ^= (uint8_t)(1u << below(8));
    }
    earlier_length = before;
    memcpy(earlier, bytes, before);
    altered++;
    return length;
}

static void carry(const side *from, const uint8_t *bytes, size_t length) {
    made++;
    show(from->name, bytes, length);
    require(length <= options.mtu, "a datagram is too long");
    if (options.tunnel)
        return;
    if ((options.plain || bytes[0] >> 5 == 1) && below(100) < options.alter) {
        uint8_t changed[ROOM + 64];
        memcpy(changed, bytes, length);
        size_t changed_length = alter(changed, length);
        put(from->peer, changed, changed_length, now_ms + 1 + below(20));
    }
    if (options.loss > 0 && below(100) < options.loss)
        return;
    put(from->peer, bytes, length, now_ms + 10 + (options.delay > 0 ? below(options.delay) : 0));
    if (options.repeat > 0 && below(100) < options.repeat)
        put(from->peer, bytes, length, now_ms + 10 + below(3000));
}

/* The data of a record tells its number and its sender. */
static size_t data_of(const side *from, unsigned number, uint8_t *out) {
    out[0] = (uint8_t)(from->is_client ? 'c' : 's');
    out[1] = (uint8_t)number;
    for (unsigned i = 2; i < 2 + number % 40; i++)
        out[i] = (uint8_t)(i * 7 + number);
    return 2 + number % 40;
}

static void hear_data(side *to, const uint8_t *bytes, size_t length) {
    uint8_t right[64];
    require(length >= 2 && bytes[1] < to->peer->sent, "data that was never sent");
    require(length == data_of(to->peer, bytes[1], right) && memcmp(right, bytes, length) == 0,
            "data that was altered");
    require(!to->has_heard[bytes[1]], "data accepted twice");
    to->has_heard[bytes[1]] = 1;
    to->heard++;
}

/* ---- Our side ---- */

static void own_flush(side *s) {
    for (;;) {
        uint8_t *datagram = malloc(s->config.datagram_bytes); /* exact: sanitizers watch its end */
        size_t length = dtls13_output(s->tls, datagram);
        if (length > 0)
            carry(s, datagram, length);
        free(datagram);
        if (length == 0)
            break;
    }
    uint32_t wait = dtls13_wait_ms(s->tls);
    s->due_ms = wait > 0 ? now_ms + wait : 0;
}

#if DTLS13_X509
static int is_called(const dtls13_peer *peer, const char *name) {
    require(peer->not_before.length == 13 && peer->not_after.length == 15, "validity");
    return !options.stranger && peer->name.length == strlen(name) &&
           memcmp(peer->name.at, name, strlen(name)) == 0;
}

static int accepts_server(const dtls13_peer *peer) {
    return is_called(peer, SERVER_NAME);
}

static int accepts_client(const dtls13_peer *peer) {
    return is_called(peer, CLIENT_NAME);
}
#endif

static void own_begin(side *s) {
    static const uint8_t cids[2][1] = {{0x42}, {0x43}};
    static const uint8_t cookie_key[32] = {7};
    s->config = (dtls13_config){.random = random_bytes,
                                .datagram_bytes = options.mtu,
                                .psk = {PSK, sizeof PSK},
                                .identity = {(const uint8_t *)"I", 1},
#if DTLS13_COOKIE
                                .cookie_key = cookie_key,
#endif
                                .sequence_bytes = (uint8_t)options.sequence};
    (void)cookie_key;
#if CREDENTIAL_SCHEME
    s->config.secret_key = own_keys[s->is_client];
    s->config.public_key = public_keys[s->is_client];
#if DTLS13_X509
    s->config.certificate = s->is_client
                                ? (dtls13_bytes){client_certificate, sizeof client_certificate}
                                : (dtls13_bytes){server_certificate, sizeof server_certificate};
    s->config.anchor_name = (dtls13_bytes){anchor_name, sizeof anchor_name};
    s->config.anchor_key = anchor_key;
    s->config.accepts = s->is_client ? accepts_server : accepts_client;
#else
    s->config.peer_public_key = public_keys[!s->is_client];
#endif
#endif
    if (options.cid)
        s->config.cid = (dtls13_bytes){cids[!s->is_client], 1};
    s->tls = malloc(sizeof *s->tls);
    dtls13_start(s->tls, &s->config, s->is_client ? DTLS13_CLIENT_ROLE : DTLS13_SERVER_ROLE);
#if EXCHANGE_GROUP
    if (s->is_client)
        show("ephemeral", s->tls->ephemeral, sizeof s->tls->ephemeral);
#endif
    s->tls->peer_address = (dtls13_bytes){(const uint8_t *)"address", 7};
    own_flush(s);
}

static void own_hear(side *s, uint8_t *bytes, size_t length) {
    while (length > 0) {
        dtls13_bytes data;
        dtls13_event event = dtls13_input(s->tls, &bytes, &length, &data);
        if (event == DTLS13_CONNECTED) {
            s->is_connected = 1;
            dtls13_export(s->tls, LABEL, NULL, 0, s->key);
        } else if (event == DTLS13_DATA) {
            hear_data(s, data.at, data.length);
        } else if (event == DTLS13_CLOSED) {
            s->is_closed = 1;
        }
    }
    own_flush(s);
}

static void own_say(side *s) {
    uint8_t data[64], *datagram;
    size_t length = data_of(s, s->sent, data);
    datagram = malloc(length + DTLS13_RECORD_BYTES_MAX + 16);
    length = dtls13_send(s->tls, datagram, data, length);
    if (length > 0) {
        s->sent++;
        carry(s, datagram, length);
    }
    free(datagram);
}

/* ---- wolfSSL ---- */

#ifdef WITH_WOLFSSL
#ifndef WOLFSSL_USER_SETTINGS
#include <wolfssl/options.h>
#endif
#include <wolfssl/ssl.h>
#include <wolfssl/wolfcrypt/settings.h>

/* These take the place of the C library's: wolfSSL sends nothing twice within some time. The
   certificates are valid from 2026 on. */
enum { YEAR_2027 = 1800000000 };

time_t time(time_t *out) {
    time_t seconds = YEAR_2027 + (time_t)(now_ms / 1000);
    if (out != NULL)
        *out = seconds;
    return seconds;
}

int gettimeofday(struct timeval *restrict out, void *restrict zone) {
    (void)zone;
    out->tv_sec = YEAR_2027 + (time_t)(now_ms / 1000);
    out->tv_usec = (suseconds_t)(now_ms % 1000 * 1000);
    return 0;
}

#define SUITE_NAME                                                                                 \
    (SUITE == 0x1301   ? "TLS13-AES128-GCM-SHA256"                                                 \
     : SUITE == 0x1305 ? "TLS13-AES128-CCM-8-SHA256"                                               \
                       : "TLS13-AES128-CCM-SHA256")

static const uint8_t *waiting;
static size_t waiting_length;

static int foreign_receive(WOLFSSL *ssl, char *buffer, int room, void *ctx) {
    (void)ssl, (void)ctx;
    if (waiting == NULL)
        return WOLFSSL_CBIO_ERR_WANT_READ;
    size_t length = waiting_length < (size_t)room ? waiting_length : (size_t)room;
    memcpy(buffer, waiting, length);
    waiting = NULL;
    return (int)length;
}

static int foreign_send(WOLFSSL *ssl, char *buffer, int length, void *ctx) {
    (void)ssl;
    carry(ctx, (const uint8_t *)buffer, (size_t)length);
    return length;
}

static unsigned int psk_client(WOLFSSL *ssl, const char *hint, char *identity, unsigned int most,
                               unsigned char *key, unsigned int key_most, const char **suite) {
    (void)ssl, (void)hint, (void)most, (void)key_most;
    strcpy(identity, "I");
    memcpy(key, PSK, sizeof PSK);
    *suite = SUITE_NAME;
    return sizeof PSK;
}

static unsigned int psk_server(WOLFSSL *ssl, const char *identity, unsigned char *key,
                               unsigned int most, const char **suite) {
    (void)ssl, (void)most;
    if (strcmp(identity, "I") != 0)
        return 0;
    memcpy(key, PSK, sizeof PSK);
    *suite = SUITE_NAME;
    return sizeof PSK;
}

#if CREDENTIAL_SCHEME
static void foreign_keys(WOLFSSL_CTX *ctx, int is_client);
#endif

static WOLFSSL_CTX *contexts[2];

static void foreign_begin(side *s) {
    WOLFSSL_CTX **ctx = &contexts[s->is_client];
    if (*ctx == NULL) {
        *ctx = wolfSSL_CTX_new(s->is_client ? wolfDTLSv1_3_client_method()
                                            : wolfDTLSv1_3_server_method());
        require(*ctx != NULL, "no context");
        wolfSSL_CTX_SetIORecv(*ctx, foreign_receive);
        wolfSSL_CTX_SetIOSend(*ctx, foreign_send);
        require(wolfSSL_CTX_set_cipher_list(*ctx, SUITE_NAME) == WOLFSSL_SUCCESS, "no suite");
#if !CREDENTIAL_SCHEME
        wolfSSL_CTX_set_psk_client_tls13_callback(*ctx, psk_client);
        wolfSSL_CTX_set_psk_server_tls13_callback(*ctx, psk_server);
        if (EXCHANGE_GROUP == 0)
            wolfSSL_CTX_no_dhe_psk(*ctx);
        else
            wolfSSL_CTX_only_dhe_psk(*ctx);
#else
        (void)psk_client, (void)psk_server;
        foreign_keys(*ctx, s->is_client);
#endif
    }
    WOLFSSL *ssl = wolfSSL_new(*ctx);
    require(ssl != NULL, "no session");
    s->foreign = ssl;
    wolfSSL_SetIOReadCtx(ssl, s);
    wolfSSL_SetIOWriteCtx(ssl, s);
    wolfSSL_dtls_set_using_nonblock(ssl, 1);
    /* It gives up at its longest wait; ours goes on with the same one. */
    require(wolfSSL_dtls_set_timeout_max(ssl, GIVE_UP_MS / 1000) == WOLFSSL_SUCCESS, "no patience");
    wolfSSL_dtls_set_mtu(ssl, (unsigned short)options.mtu);
    wolfSSL_KeepArrays(ssl);
    if (EXCHANGE_GROUP != 0) {
        int groups[] = {EXCHANGE_GROUP};
        require(wolfSSL_set_groups(ssl, groups, 1) == WOLFSSL_SUCCESS, "no group");
        if (s->is_client)
            require(wolfSSL_UseKeyShare(ssl, EXCHANGE_GROUP) == WOLFSSL_SUCCESS, "no share");
    } else if (s->is_client) {
        wolfSSL_NoKeyShares(ssl);
    }
    if (!s->is_client && options.flood == 0)
        wolfSSL_disable_hrr_cookie(ssl);
    if (options.cid) {
        unsigned char cid[1] = {s->is_client ? 0x42 : 0x43};
        wolfSSL_dtls_cid_use(ssl);
        wolfSSL_dtls_cid_set(ssl, cid, 1);
    }
}

static void foreign_step(side *s) {
    WOLFSSL *ssl = s->foreign;
    int status = s->is_client ? wolfSSL_connect(ssl) : wolfSSL_accept(ssl);
    if (status == WOLFSSL_SUCCESS && !s->is_connected) {
        s->is_connected = 1;
        require(wolfSSL_export_keying_material(ssl, s->key, sizeof s->key, LABEL, sizeof LABEL - 1,
                                               NULL, 0, 0) == WOLFSSL_SUCCESS,
                "no exporter");
    } else if (status != WOLFSSL_SUCCESS) {
        int error = wolfSSL_get_error(ssl, status);
        if (error != WOLFSSL_ERROR_WANT_READ && error != WOLFSSL_ERROR_WANT_WRITE) {
            if (options.show)
                printf("%s: wolfSSL's error %d, %s\n", s->name, error,
                       wolfSSL_ERR_reason_error_string((unsigned long)error));
            s->is_closed = 1;
        }
    }
    s->due_ms = now_ms + 1000u * (unsigned)wolfSSL_dtls_get_current_timeout(ssl);
}

static void foreign_hear(side *s, uint8_t *bytes, size_t length) {
    uint8_t data[ROOM];
    waiting = bytes;
    waiting_length = length;
    if (!s->is_connected)
        foreign_step(s);
    while (s->is_connected) {
        int got = wolfSSL_read(s->foreign, data, sizeof data);
        if (got <= 0)
            break;
        if (options.tunnel)
            show("data", data, (size_t)got);
        else
            hear_data(s, data, (size_t)got);
    }
    waiting = NULL;
}

static void foreign_say(side *s) {
    uint8_t data[64];
    size_t length = data_of(s, s->sent, data);
    s->sent++;
    if (wolfSSL_write(s->foreign, data, (int)length) != (int)length)
        s->sent--;
}

static void foreign_expired(side *s) {
    if (s->is_connected) {
        s->due_ms = 0;
        /* Its own way to send its Finished again is a read. */
        if (wolfSSL_dtls_got_timeout(s->foreign) == WOLFSSL_SUCCESS)
            s->due_ms = now_ms + 1000u * (unsigned)wolfSSL_dtls_get_current_timeout(s->foreign);
        return;
    }
    wolfSSL_dtls_got_timeout(s->foreign);
    foreign_step(s);
}

#if CREDENTIAL_SCHEME
static size_t write_private(uint8_t *out, int is_client) {
#if CREDENTIAL_SCHEME == 0x0807
    static const uint8_t head[] = {0x30, 0x2e, 0x02, 0x01, 0x00, 0x30, 0x05, 0x06,
                                   0x03, 0x2b, 0x65, 0x70, 0x04, 0x22, 0x04, 0x20};
    memcpy(out, head, sizeof head);
    memcpy(out + sizeof head, own_keys[is_client], 32);
    return sizeof head + 32;
#else
    static const uint8_t head[] = {0x30, 0x77, 0x02, 0x01, 0x01, 0x04, 0x20};
    static const uint8_t middle[] = {0xa0, 0x0a, 0x06, 0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d,
                                     0x03, 0x01, 0x07, 0xa1, 0x44, 0x03, 0x42, 0x00, 0x04};
    memcpy(out, head, sizeof head);
    memcpy(out + sizeof head, own_keys[is_client], 32);
    memcpy(out + sizeof head + 32, middle, sizeof middle);
    memcpy(out + sizeof head + 32 + sizeof middle, public_keys[is_client], 64);
    return sizeof head + 32 + sizeof middle + 64;
#endif
}

static void foreign_keys(WOLFSSL_CTX *ctx, int is_client) {
    uint8_t private[200];
#if DTLS13_X509
    const uint8_t *own = is_client ? client_certificate : server_certificate;
    size_t own_length = is_client ? sizeof client_certificate : sizeof server_certificate;
    require(wolfSSL_CTX_load_verify_buffer(ctx, anchor_certificate, sizeof anchor_certificate,
                                           WOLFSSL_FILETYPE_ASN1) == WOLFSSL_SUCCESS,
            "no anchor");
#else
    uint8_t own[CREDENTIAL_CERTIFICATE_BYTES], peer[CREDENTIAL_CERTIFICATE_BYTES];
    size_t own_length = sizeof own;
    char types[1] = {WOLFSSL_CERT_TYPE_RPK};
    credential_certificate(own, public_keys[is_client]);
    credential_certificate(peer, public_keys[!is_client]);
    wolfSSL_CTX_set_client_cert_type(ctx, types, 1);
    wolfSSL_CTX_set_server_cert_type(ctx, types, 1);
    require(wolfSSL_CTX_set_expected_rpk(ctx, peer, sizeof peer) == WOLFSSL_SUCCESS, "no pin");
#endif
    require(wolfSSL_CTX_use_certificate_buffer(ctx, own, (long)own_length, WOLFSSL_FILETYPE_ASN1) ==
                WOLFSSL_SUCCESS,
            "no certificate");
    require(wolfSSL_CTX_use_PrivateKey_buffer(ctx, private, (long)write_private(private, is_client),
                                              WOLFSSL_FILETYPE_ASN1) == WOLFSSL_SUCCESS,
            "no private key");
    wolfSSL_CTX_set_verify(ctx, WOLFSSL_VERIFY_PEER | WOLFSSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
}
#endif
#else
static void foreign_begin(side *s) {
    (void)s;
    require(0, "built without wolfSSL");
}
static void foreign_step(side *s) {
    (void)s;
}
static void foreign_hear(side *s, uint8_t *bytes, size_t length) {
    (void)s, (void)bytes, (void)length;
}
static void foreign_say(side *s) {
    (void)s;
}
static void foreign_expired(side *s) {
    (void)s;
}
#endif

/* ---- A conversation ---- */

static void hear(side *s, uint8_t *bytes, size_t length) {
    if (s->is_closed)
        return;
    if (s->is_foreign)
        foreign_hear(s, bytes, length);
    else
        own_hear(s, bytes, length);
}

/* Runs until nothing is under way and no timer runs, or too long. */
static void run(side sides[2]) {
    for (unsigned long steps = 0; now_ms < GIVE_UP_MS && steps < 100000; steps++) {
        int next = -1;
        unsigned long long at_ms = GIVE_UP_MS;
        for (int i = 0; i < QUEUE; i++)
            if (queue[i].bytes != NULL && queue[i].at_ms < at_ms) {
                at_ms = queue[i].at_ms;
                next = i;
            }
        int is_idle = next < 0;
        for (int k = 0; k < 2; k++)
            if (sides[k].due_ms > 0 && !sides[k].is_closed && sides[k].due_ms < at_ms &&
                !(sides[k].is_foreign && sides[k].is_connected && sides[!k].is_connected)) {
                at_ms = sides[k].due_ms;
                next = -2 - k;
                is_idle = 0;
            }
        if (is_idle)
            return;
        now_ms = at_ms > now_ms ? at_ms : now_ms;
        if (next >= 0) {
            in_flight came = queue[next];
            queue[next].bytes = NULL;
            hear(&sides[came.to_client ? 0 : 1], came.bytes, came.length);
            free(came.bytes);
        } else {
            side *s = &sides[-2 - next];
            if (s->is_foreign) {
                foreign_expired(s);
            } else {
                dtls13_expired(s->tls);
                if (s->tls->tries > 12)
                    s->is_closed = 1;
                own_flush(s);
            }
        }
    }
}

#ifdef WITH_WOLFSSL
/* Takes lines: the time in milliseconds and `over` where that is all, or `hear` or `say` and a
   datagram or data in hexadecimal digits. Each time it says last how long it waits, or 0. */
static void tunnel(void) {
    side s = {.name = "sends", .is_client = options.client_is_foreign, .is_foreign = 1};
    char line[3 * ROOM], word[8], digits[2 * ROOM + 1];
    int is_told = 0;
    options.show = 1;
    now_ms = 1;
    foreign_begin(&s);
    foreign_step(&s);
    for (;;) {
        if (s.is_connected && !is_told) {
            show("key", s.key, sizeof s.key);
            is_told = 1;
        }
        printf("wait %llu\n", s.due_ms > now_ms ? s.due_ms - now_ms : 0);
        fflush(stdout);
        uint8_t bytes[ROOM];
        size_t length = 0;
        if (fgets(line, sizeof line, stdin) == NULL)
            break;
        digits[0] = 0;
        require(sscanf(line, "%llu %7s %8192s", &now_ms, word, digits) >= 2, "no such line");
        for (unsigned byte; sscanf(digits + 2 * length, "%2x", &byte) == 1; length++)
            bytes[length] = (uint8_t)byte;
        if (strcmp(word, "hear") == 0)
            foreign_hear(&s, bytes, length);
        else if (strcmp(word, "say") == 0)
            require(wolfSSL_write(s.foreign, bytes, (int)length) == (int)length, "not written");
        else if (s.due_ms > 0 && s.due_ms <= now_ms)
            foreign_expired(&s);
    }
    wolfSSL_free(s.foreign);
}
#endif

static int converse(void) {
    side sides[2] = {{.name = "client", .is_client = 1, .is_foreign = options.client_is_foreign},
                     {.name = "server", .is_foreign = options.server_is_foreign}};
    int is_good;
    now_ms = 1;
    for (int k = 1; k >= 0; k--) {
        sides[k].peer = &sides[!k];
        if (sides[k].is_foreign) {
            foreign_begin(&sides[k]);
            foreign_step(&sides[k]);
        } else {
            own_begin(&sides[k]);
        }
    }
    run(sides);
    is_good = sides[0].is_connected && sides[1].is_connected && !sides[0].is_closed &&
              !sides[1].is_closed;
    if (sides[0].is_connected && sides[1].is_connected)
        require(memcmp(sides[0].key, sides[1].key, 32) == 0, "connected with different keys");
    for (unsigned i = 0; is_good && i < options.records; i++)
        for (int k = 0; k < 2; k++) {
            if (sides[k].is_foreign)
                foreign_say(&sides[k]);
            else
                own_say(&sides[k]);
            run(sides);
        }
    for (int k = 0; k < 2; k++) {
        if (is_good && options.loss == 0)
            require(sides[k].heard == options.records, "data is missing");
        if (is_good)
            show("key", sides[k].key, 32);
        free(sides[k].tls);
#ifdef WITH_WOLFSSL
        if (sides[k].is_foreign)
            wolfSSL_free(sides[k].foreign);
#endif
    }
    for (unsigned i = 0; i < QUEUE; i++) {
        free(queue[i].bytes);
        queue[i].bytes = NULL;
    }
    return is_good;
}

static void set(const char *text) {
    static const struct {
        const char *name;
        unsigned long *value;
    } numbers[] = {
        {"count", &options.count},   {"seed", &options.seed},         {"loss", &options.loss},
        {"repeat", &options.repeat}, {"delay", &options.delay},       {"alter", &options.alter},
        {"mtu", &options.mtu},       {"records", &options.records},   {"cid", &options.cid},
        {"show", &options.show},     {"sequence", &options.sequence}, {"flood", &options.flood},
        {"plain", &options.plain},   {"stranger", &options.stranger}, {"tunnel", &options.tunnel}};
    const char *value = strchr(text, '=');
    require(value != NULL, "name=value");
    if (strncmp(text, "client", 6) == 0)
        options.client_is_foreign = strcmp(value + 1, "wolfssl") == 0;
    else if (strncmp(text, "server", 6) == 0)
        options.server_is_foreign = strcmp(value + 1, "wolfssl") == 0;
    else
        for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
            if (strncmp(text, numbers[i].name, (size_t)(value - text)) == 0)
                *numbers[i].value = strtoul(value + 1, NULL, 10);
}

int main(int count, char **words) {
    unsigned long connected = 0, begin;
    for (int i = 1; i < count; i++)
        set(words[i]);
    require(options.mtu <= ROOM && options.records < RECORDS_MAX, "too large");
#if CREDENTIAL_SCHEME
    for (unsigned k = 0; k < 2; k++) {
        memset(own_keys[k], k == 1 ? 1 : 2, sizeof own_keys[k]); /* the client's, the server's */
        require(KEYGEN(public_keys[k], own_keys[k]) == CRYPTO_OK, "no key");
    }
#endif
#ifdef WITH_WOLFSSL
    wolfSSL_Init();
    if (options.tunnel) {
        tunnel();
        return 0;
    }
#endif
    for (begin = options.seed; begin < options.seed + options.count; begin++) {
        state = begin * 0x10001u;
        connected += (unsigned long)converse();
    }
    printf("connected %lu failed %lu datagrams %lu altered %lu\n", connected,
           options.count - connected, made, altered);
    return 0;
}
