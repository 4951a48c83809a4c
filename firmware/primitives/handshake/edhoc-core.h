/* EDHOC (RFC 9528). The including file has defined

     EDHOC(name)               adds a prefix to a name
     EDHOC_METHOD              0: both sign, 3: both have static Diffie-Hellman keys
     EDHOC_SUITE               the cipher suite, as it is encoded
     EDHOC_KEYGEN(x, secret)   an ephemeral public key
     EDHOC_AGREE(shared, secret, x)
     EDHOC_SIGN, EDHOC_VERIFY  for method 0: as in signature.h

   and, where these are not of X25519 or P-256, Ed25519, SHA-256 and AES-CCM-16-64-128,

     EDHOC_OFFER_BYTES, EDHOC_ANSWER_BYTES   of G_X and G_Y
     EDHOC_KEYGEN_Y(g_y, secret), EDHOC_SHARE(shared, g_y, secret, peer)
                               with a KEM, that which makes the secret makes G_Y; the peer's is G_X
                               for the responder, G_Y for the initiator
     EDHOC_PROOF_BYTES, EDHOC_TAG_BYTES      of signatures and tags
     EDHOC_SIGNED_BYTES                      the longest message that is signed
     EDHOC_KMAC                the hash is SHAKE256: functions hash_pieces, extract and kdf

   Names and labels are those of the RFC's section 4. Each side's identity (ID_CRED) and credential
   (CRED) are CBOR items; its connection is C_R or, for the initiator, SUITES_I and C_I. */
#include "aead/aead.h"
#include "ccm.h"
#include "handshake/edhoc.h"

#ifndef EDHOC_OFFER_BYTES
#define EDHOC_OFFER_BYTES 32
#define EDHOC_ANSWER_BYTES 32
#define EDHOC_PROOF_BYTES 64
#define EDHOC_TAG_BYTES 8
#define EDHOC_SIGNED_BYTES 420
#define EDHOC_KEYGEN_Y EDHOC_KEYGEN
#define EDHOC_SHARE(shared, g_y, secret, peer) EDHOC_AGREE(shared, secret, peer)
#endif

enum {
    HASH = EDHOC_HASH_BYTES,
    OFFER = EDHOC_OFFER_BYTES,
    ANSWER = EDHOC_ANSWER_BYTES,
    SHARED = 32,
    TAG = EDHOC_TAG_BYTES,
    NONCE = 13,
    KEY = 16,
    MAC = EDHOC_METHOD == 0 ? HASH : 8,
    PROOF = EDHOC_METHOD == 0 ? EDHOC_PROOF_BYTES : 8, /* Signature_or_MAC */
    SIGNED_MOST = EDHOC_SIGNED_BYTES
};

enum label {
    KEYSTREAM_2,
    SALT_3E2M,
    MAC_2,
    K_3,
    IV_3,
    SALT_4E3M,
    MAC_3,
    PRK_OUT,
    K_4,
    IV_4,
    PRK_EXPORTER,
    NEXT_PRK_OUT, /* for a key update */
};

/* Not inlined: none of these takes long beside the curve, and a single copy halves the flash. */
#define OUT_OF_LINE __attribute__((noinline, cold))

typedef struct {
    const uint8_t *at;
    size_t length;
} piece;

#ifdef EDHOC_KMAC
#include "edhoc-kmac.h"
#else
#include "mac/hmac-sha-256.h"

/* H of pieces. */
OUT_OF_LINE static void hash_pieces(uint8_t out[HASH], const piece *pieces, unsigned count) {
    sha256_ctx hash;
    sha256_init(&hash);
    for (unsigned i = 0; i < count; i++)
        sha256_update(&hash, pieces[i].at, pieces[i].length);
    sha256_final(&hash, out);
}

/* EDHOC_Extract. */
OUT_OF_LINE static void extract(uint8_t out[HASH], const uint8_t salt[HASH],
                                const uint8_t secret[SHARED]) {
    sha256_ctx hash;
    hmac_sha256_begin(&hash, salt);
    sha256_update(&hash, secret, SHARED);
    hmac_sha256_end(&hash, salt, out);
}

/* EDHOC_KDF with the pieces as context: HKDF-Expand of (label, context, length). */
OUT_OF_LINE static void kdf(uint8_t *out, size_t length, const uint8_t prk[HASH], enum label label,
                            const piece *pieces, unsigned count) {
    sha256_ctx hash;
    uint8_t block[HASH], head[CBOR_HEAD_MOST], number = 0, type = (uint8_t)label;
    size_t context = 0, want = length, head_length;
    for (unsigned i = 0; i < count; i++)
        context += pieces[i].length;
    while (length > 0) {
        size_t some = length < HASH ? length : HASH;
        hmac_sha256_begin(&hash, prk);
        if (number++)
            sha256_update(&hash, block, HASH);
        sha256_update(&hash, &type, 1);
        head_length = cbor_head(head, CBOR_BYTES, context);
        sha256_update(&hash, head, head_length);
        for (unsigned i = 0; i < count; i++)
            sha256_update(&hash, pieces[i].at, pieces[i].length);
        head_length = cbor_head(head, CBOR_UINT, want);
        sha256_update(&hash, head, head_length);
        sha256_update(&hash, &number, 1);
        hmac_sha256_end(&hash, prk, block);
        for (size_t i = 0; i < some; i++)
            *out++ = block[i];
        length -= some;
    }
    crypto_wipe(block, sizeof block);
}
#endif

/* Heads of byte strings: a hash, G_X, G_Y. */
static const uint8_t HEAD_HASH[2] = {CBOR_BYTES | 24, HASH};
#if EDHOC_OFFER_BYTES == EDHOC_HASH_BYTES && EDHOC_ANSWER_BYTES == EDHOC_HASH_BYTES
#define HEAD_OFFER HEAD_HASH
#define HEAD_ANSWER HEAD_HASH
#else
static const uint8_t HEAD_OFFER[3] = {CBOR_BYTES | 25, OFFER >> 8, OFFER & 255};
static const uint8_t HEAD_ANSWER[3] = {CBOR_BYTES | 25, ANSWER >> 8, ANSWER & 255};
#endif

OUT_OF_LINE static void kdf_th(uint8_t *out, size_t length, const uint8_t prk[HASH],
                               enum label label, const uint8_t th[HASH]) {
    const piece context = {th, HASH};
    kdf(out, length, prk, label, &context, 1);
}

static int same(piece a, piece b) {
    return a.length == b.length && crypto_equal(a.at, b.at, a.length);
}

OUT_OF_LINE static void copy(uint8_t *out, const uint8_t *in, size_t length) {
    for (size_t i = 0; i < length; i++)
        out[i] = in[i];
}

/* Returns ID_CRED as it appears in plaintexts (section 3.5.3.2): a map with only a 'kid' is reduced
   to its value and, if that is the byte of a small integer, to the integer. */
OUT_OF_LINE static piece compact(const handshake_bytes *identity) {
    piece id = {identity->at, identity->length};
    if (id.length > 3 && id.at[0] == 0xa1 && id.at[1] == 0x04) {
        cbor_reader value = {id.at + 3, 1};
        id.at += 2;
        id.length -= 2;
        if (id.length == 2 && id.at[0] == (CBOR_BYTES | 1) && cbor_read_identifier(&value) == 1) {
            id.at++;
            id.length--;
        }
    }
    return id;
}

/* MAC_2 or MAC_3, over << ? C_R, ID_CRED, TH, CRED, ? EAD >>. */
OUT_OF_LINE static void mac(uint8_t out[MAC], const uint8_t prk[HASH], enum label label,
                            piece connection, const handshake_party *party, const uint8_t th[HASH],
                            piece ead) {
    const piece context[] = {
        connection, {party->identity.at, party->identity.length},     {HEAD_HASH, sizeof HEAD_HASH},
        {th, HASH}, {party->credential.at, party->credential.length}, ead};
    kdf(out, MAC, prk, label, context, 6);
}

#if EDHOC_METHOD == 0
/* Writes the data to be signed, a COSE_Sign1's Sig_structure (section 5.3.2); returns its length,
   or 0. */
OUT_OF_LINE static size_t to_be_signed(uint8_t out[SIGNED_MOST], const handshake_party *party,
                                       const uint8_t th[HASH], piece ead,
                                       const uint8_t mac_bytes[MAC]) {
    static const uint8_t context[] = {0x84, 0x6a, 'S', 'i', 'g', 'n', 'a', 't', 'u', 'r', 'e', '1'};
    size_t n = sizeof context;
    size_t whole = 2 + HASH + party->credential.length + ead.length;
    if (n + whole + party->identity.length + 2 + MAC + 2 * CBOR_HEAD_MOST > SIGNED_MOST)
        return 0;
    copy(out, context, sizeof context);
    n += cbor_head(out + n, CBOR_BYTES, party->identity.length);
    copy(out + n, party->identity.at, party->identity.length);
    n += party->identity.length;
    n += cbor_head(out + n, CBOR_BYTES, whole);
    copy(out + n, HEAD_HASH, 2);
    copy(out + n + 2, th, HASH);
    copy(out + n + 2 + HASH, party->credential.at, party->credential.length);
    n += whole;
    copy(out + n - ead.length, ead.at, ead.length);
    n += cbor_head(out + n, CBOR_BYTES, MAC);
    copy(out + n, mac_bytes, MAC);
    return n + MAC;
}
#endif

/* Computes our own Signature_or_MAC. */
OUT_OF_LINE static crypto_status prove(uint8_t out[PROOF], const handshake_party *own,
                                       const uint8_t th[HASH], piece ead,
                                       const uint8_t mac_bytes[MAC]) {
#if EDHOC_METHOD == 0
    uint8_t message[SIGNED_MOST];
    size_t length = to_be_signed(message, own, th, ead, mac_bytes);
    if (length == 0)
        return CRYPTO_BAD_LENGTH;
    return EDHOC_SIGN(out, own->key, own->public_key, NULL, message, length);
#else
    (void)own, (void)th, (void)ead;
    copy(out, mac_bytes, PROOF);
    return CRYPTO_OK;
#endif
}

/* Returns whether the peer's Signature_or_MAC is right. */
OUT_OF_LINE static int proves(const uint8_t proof[PROOF], const handshake_party *peer,
                              const uint8_t th[HASH], piece ead, const uint8_t mac_bytes[MAC]) {
#if EDHOC_METHOD == 0
    uint8_t message[SIGNED_MOST];
    size_t length = to_be_signed(message, peer, th, ead, mac_bytes);
    return length != 0 && EDHOC_VERIFY(proof, peer->public_key, message, length) == CRYPTO_OK;
#else
    (void)peer, (void)th, (void)ead;
    return crypto_equal(proof, mac_bytes, PROOF);
#endif
}

/* Replaces the previous key by PRK_3e2m or PRK_4e3m; where both sides sign, it stays the same. */
OUT_OF_LINE static crypto_status next_prk(uint8_t prk[HASH], enum label label,
                                          const uint8_t th[HASH], const uint8_t *secret,
                                          const uint8_t *public_x) {
#if EDHOC_METHOD == 0
    (void)prk, (void)label, (void)th, (void)secret, (void)public_x;
    return CRYPTO_OK;
#else
    uint8_t salt[HASH], shared[SHARED];
    crypto_status status = EDHOC_AGREE(shared, secret, public_x);
    if (status == CRYPTO_OK) {
        kdf_th(salt, HASH, prk, label, th);
        extract(prk, salt, shared);
    }
    crypto_wipe(salt, sizeof salt);
    crypto_wipe(shared, sizeof shared);
    return status;
#endif
}

/* Computes TH_2 and PRK_2e from H(message_1), which is in th. */
OUT_OF_LINE static crypto_status begin_2(EDHOC(ctx) * ctx, const uint8_t g_y[ANSWER],
                                         const uint8_t *secret, const uint8_t *peer_x) {
    uint8_t shared[SHARED];
    const piece th_2[] = {
        {HEAD_ANSWER, sizeof HEAD_ANSWER}, {g_y, ANSWER}, {HEAD_HASH, 2}, {ctx->th, HASH}};
    crypto_status status = EDHOC_SHARE(shared, g_y, secret, peer_x);
    if (status == CRYPTO_OK) {
        hash_pieces(ctx->th, th_2, 4);
        extract(ctx->prk, ctx->th, shared);
    }
    crypto_wipe(shared, sizeof shared);
    return status;
}

/* Computes TH_3 or TH_4 from the previous hash, a plaintext and a credential. */
OUT_OF_LINE static void next_th(uint8_t th[HASH], const uint8_t *plaintext, size_t length,
                                const handshake_party *party) {
    const piece pieces[] = {{HEAD_HASH, 2},
                            {th, HASH},
                            {plaintext, length},
                            {party->credential.at, party->credential.length}};
    hash_pieces(th, pieces, 4);
}

static const aead_message *message_of(aead_message *m, const uint8_t *nonce, const uint8_t *ad,
                                      uint8_t *text, size_t length, uint8_t *tag) {
    *m = (aead_message){nonce, NONCE, ad, 13 + HASH, text, text, length, tag, TAG};
    return m;
}

/* Encrypts or decrypts the plaintext of message 3 or 4 in place (K_3, IV_3, A_3; K_4, IV_4, A_4). A
   nonce's label is the one after its key's. */
OUT_OF_LINE static crypto_status crypt(const uint8_t prk[HASH], enum label key_label,
                                       const uint8_t th[HASH], uint8_t *text, size_t length,
                                       uint8_t tag[TAG], int decrypt) {
    static const uint8_t head[13] = {0x83, 0x68, 'E', 'n',  'c',  'r', 'y',
                                     'p',  't',  '0', 0x40, 0x58, HASH};
    uint8_t key[KEY], nonce[NONCE], ad[sizeof head + HASH];
    ccm_ctx cipher;
    aead_message m;
    crypto_status status;
    kdf_th(key, KEY, prk, key_label, th);
    kdf_th(nonce, NONCE, prk, key_label + 1, th);
    copy(ad, head, sizeof head);
    copy(ad + sizeof head, th, HASH);
    ccm_init(&cipher, key);
    message_of(&m, nonce, ad, text, length, tag);
    status = decrypt ? ccm_decrypt(&cipher, &m) : ccm_encrypt(&cipher, &m);
    crypto_wipe(key, sizeof key);
    crypto_wipe(&cipher, sizeof cipher);
    return status;
}

/* XORs with KEYSTREAM_2. */
static void crypt_2(const uint8_t prk[HASH], const uint8_t th[HASH], uint8_t *out,
                    const uint8_t *in, size_t length) {
    uint8_t stream[EDHOC_PLAINTEXT_BYTES];
    kdf_th(stream, length, prk, KEYSTREAM_2, th);
    crypto_xor(out, in, stream, length);
    crypto_wipe(stream, sizeof stream);
}

/* Writes ID_CRED, Signature_or_MAC and EAD, the end of both plaintexts; returns their length. */
OUT_OF_LINE static size_t write_proof(uint8_t *out, const handshake_bytes *identity,
                                      const uint8_t proof[PROOF], piece ead) {
    piece id = compact(identity);
    size_t n = id.length;
    copy(out, id.at, n);
    n += cbor_head(out + n, CBOR_BYTES, PROOF);
    copy(out + n, proof, PROOF);
    copy(out + n + PROOF, ead.at, ead.length);
    return n + PROOF + ead.length;
}

/* Reads ID_CRED, which must be the expected peer's. */
OUT_OF_LINE static int read_identity(cbor_reader *in, const handshake_bytes *identity) {
    piece id = compact(identity);
    if (in->left < id.length || !same(id, (piece){in->at, id.length}))
        return 0;
    in->at += id.length;
    in->left -= id.length;
    return 1;
}

/* Reads Signature_or_MAC, leaving external authorization data; returns null if it is malformed. */
OUT_OF_LINE static const uint8_t *read_proof(cbor_reader *in) {
    const uint8_t *proof;
    size_t length;
    if (!cbor_read_bytes(in, &proof, &length) || length != PROOF)
        return NULL;
    return proof;
}

/* Returns what this side adds to its next message. */
static piece ead_of(const handshake *h) {
    return (piece){h->ad.says.at, h->ad.says.length};
}

/* Passes the peer's additions to the application; returns 0 if they are malformed, or critical and
   not understood (section 3.8). */
OUT_OF_LINE static int take_ead(const handshake *h, uint8_t message, piece ead) {
    cbor_reader in = {ead.at, ead.length};
    handshake_item item;
    while (in.left > 0) {
        if (!edhoc_read_item(&in, &item))
            return 0;
        if (item.label == HANDSHAKE_PADDING)
            continue;
        int understood = h->ad.hears && h->ad.hears(h->ad.application, message, &item);
        if (!understood && item.critical)
            return 0;
    }
    return 1;
}

/* Wipes a failed session, leaving only the reason. */
OUT_OF_LINE static crypto_status give_up(EDHOC(ctx) * ctx, edhoc_error why) {
    crypto_wipe(ctx, sizeof *ctx);
    ctx->error = (uint8_t)why;
    return CRYPTO_BAD_TAG;
}

/* Keeps the peer's connection identifier, which takes `length` bytes in a message. */
static void keep_connection(EDHOC(ctx) * ctx, const uint8_t *at, size_t length) {
    if (length > 1) { /* a byte string, not the integer that stands for one byte */
        at++;
        length--;
    }
    ctx->connection_length = length > 255 ? 255 : (uint8_t)length;
    if (length <= EDHOC_CONNECTION_BYTES)
        copy(ctx->connection, at, length);
}

OUT_OF_LINE crypto_status EDHOC(message_1)(EDHOC(ctx) * ctx, const handshake *h,
                                           handshake_bytes *out) {
    const handshake_bytes *choice = &h->own.connection;
    size_t suites = cbor_suites(choice->at, choice->length);
    piece ead = ead_of(h);
    size_t length = 1 + choice->length + sizeof HEAD_OFFER + OFFER + ead.length;
    if (suites == 0 || out->length < length)
        return CRYPTO_BAD_LENGTH;
    uint8_t *at = out->at;
    *at++ = EDHOC_METHOD;
    copy(at, choice->at, suites);
    at += suites;
    copy(at, HEAD_OFFER, sizeof HEAD_OFFER);
    if (EDHOC_KEYGEN(at + sizeof HEAD_OFFER, h->own.ephemeral) != CRYPTO_OK) {
        crypto_wipe(out->at, length);
        return CRYPTO_BAD_TAG;
    }
    copy(at + sizeof HEAD_OFFER + OFFER, choice->at + suites, choice->length - suites);
    copy(out->at + length - ead.length, ead.at, ead.length);
    out->length = length;
    hash_pieces(ctx->th, &(piece){out->at, length}, 1);
    return CRYPTO_OK;
}

OUT_OF_LINE crypto_status EDHOC(message_2)(EDHOC(ctx) * ctx, const handshake *h,
                                           const handshake_bytes *in, handshake_bytes *out) {
    const uint8_t *g_x;
    uint8_t plaintext[EDHOC_PLAINTEXT_BYTES], mac_bytes[MAC], proof[PROOF], g_y[ANSWER],
        prk_2e[HASH];
    size_t length = in->length, suites, point_length, n = h->own.connection.length;
    size_t connection = 0;
    cbor_reader reader;
    crypto_status status;
    piece ead;
    if (length < 2 || in->at[0] != EDHOC_METHOD)
        return give_up(ctx, EDHOC_UNSPECIFIED);
    suites = cbor_suites(in->at + 1, length - 1);
    if (suites == 0)
        return give_up(ctx, EDHOC_UNSPECIFIED);
    if (in->at[suites] != EDHOC_SUITE) /* the last one is the selected suite */
        return give_up(ctx, EDHOC_WRONG_SUITE);
    reader = (cbor_reader){in->at + 1 + suites, length - 1 - suites};
    if (!cbor_read_bytes(&reader, &g_x, &point_length) || point_length != OFFER ||
        (connection = cbor_read_identifier(&reader)) == 0 ||
        !take_ead(h, 1, (piece){reader.at, reader.left}))
        return give_up(ctx, EDHOC_UNSPECIFIED);
    keep_connection(ctx, reader.at - connection, connection);
    ead = ead_of(h);
    if (n + h->own.identity.length + PROOF + CBOR_HEAD_MOST + ead.length > EDHOC_PLAINTEXT_BYTES ||
        out->length < EDHOC_PLAINTEXT_BYTES)
        return CRYPTO_BAD_LENGTH;
    hash_pieces(ctx->th, &(piece){in->at, in->length}, 1);
    if (EDHOC_KEYGEN_Y(g_y, h->own.ephemeral) != CRYPTO_OK ||
        begin_2(ctx, g_y, h->own.ephemeral, g_x) != CRYPTO_OK)
        return give_up(ctx, EDHOC_UNSPECIFIED);
    copy(prk_2e, ctx->prk, HASH);
    status = next_prk(ctx->prk, SALT_3E2M, ctx->th, h->own.key, g_x);
    if (status == CRYPTO_OK) {
        mac(mac_bytes, ctx->prk, MAC_2, (piece){h->own.connection.at, n}, &h->own, ctx->th, ead);
        status = prove(proof, &h->own, ctx->th, ead, mac_bytes);
    }
    if (status != CRYPTO_OK) {
        crypto_wipe(prk_2e, sizeof prk_2e);
        return give_up(ctx, EDHOC_UNSPECIFIED);
    }
    copy(plaintext, h->own.connection.at, n);
    n += write_proof(plaintext + n, &h->own.identity, proof, ead);
    size_t head = cbor_head(out->at, CBOR_BYTES, ANSWER + n);
    copy(out->at + head, g_y, ANSWER);
    crypt_2(prk_2e, ctx->th, out->at + head + ANSWER, plaintext, n);
    out->length = head + ANSWER + n;
    next_th(ctx->th, plaintext, n, &h->own);
    crypto_wipe(prk_2e, sizeof prk_2e);
    crypto_wipe(plaintext, sizeof plaintext);
    crypto_wipe(mac_bytes, sizeof mac_bytes);
    return CRYPTO_OK;
}

/* The last step of both sides: TH_4 and PRK_out, with PRK_4e3m kept for message 4. */
static void finish(EDHOC(ctx) * ctx, const uint8_t *plaintext, size_t length,
                   const handshake_party *initiator) {
    next_th(ctx->th, plaintext, length, initiator);
    kdf_th(ctx->key, HASH, ctx->prk, PRK_OUT, ctx->th);
}

OUT_OF_LINE crypto_status EDHOC(message_3)(EDHOC(ctx) * ctx, const handshake *h,
                                           const handshake_bytes *in, handshake_bytes *out) {
    uint8_t plaintext[EDHOC_PLAINTEXT_BYTES], prk_3e2m[HASH], mac_bytes[MAC], proof[PROOF];
    const uint8_t *bytes, *their_proof;
    cbor_reader reader = {in->at, in->length};
    size_t length, connection, n, head;
    crypto_status status;
    piece ead;
    if (!cbor_read_bytes(&reader, &bytes, &length) || reader.left != 0 || length <= ANSWER ||
        length - ANSWER > EDHOC_PLAINTEXT_BYTES)
        return give_up(ctx, EDHOC_UNSPECIFIED);
    if (begin_2(ctx, bytes, h->own.ephemeral, bytes) != CRYPTO_OK)
        return give_up(ctx, EDHOC_UNSPECIFIED);
    n = length - ANSWER;
    crypt_2(ctx->prk, ctx->th, plaintext, bytes + ANSWER, n);
    reader = (cbor_reader){plaintext, n};
    connection = cbor_read_identifier(&reader);
    if (!connection)
        return give_up(ctx, EDHOC_UNSPECIFIED);
    keep_connection(ctx, plaintext, connection);
    if (!read_identity(&reader, &h->peer.identity))
        return give_up(ctx, EDHOC_UNKNOWN_CREDENTIAL);
    their_proof = read_proof(&reader);
    if (!their_proof ||
        next_prk(ctx->prk, SALT_3E2M, ctx->th, h->own.ephemeral, h->peer.public_key) != CRYPTO_OK)
        return give_up(ctx, EDHOC_UNSPECIFIED);
    ead = (piece){reader.at, reader.left};
    mac(mac_bytes, ctx->prk, MAC_2, (piece){plaintext, connection}, &h->peer, ctx->th, ead);
    if (!proves(their_proof, &h->peer, ctx->th, ead, mac_bytes) || !take_ead(h, 2, ead))
        return give_up(ctx, EDHOC_UNSPECIFIED);
    ead = ead_of(h);
    if (h->own.identity.length + PROOF + CBOR_HEAD_MOST + ead.length + TAG >
            EDHOC_PLAINTEXT_BYTES ||
        out->length < EDHOC_PLAINTEXT_BYTES) {
        crypto_wipe(ctx, sizeof *ctx);
        return CRYPTO_BAD_LENGTH;
    }
    next_th(ctx->th, plaintext, n, &h->peer);
    copy(prk_3e2m, ctx->prk, HASH);
    status = next_prk(ctx->prk, SALT_4E3M, ctx->th, h->own.key, bytes);
    if (status == CRYPTO_OK) {
        mac(mac_bytes, ctx->prk, MAC_3, (piece){NULL, 0}, &h->own, ctx->th, ead);
        status = prove(proof, &h->own, ctx->th, ead, mac_bytes);
    }
    if (status != CRYPTO_OK) {
        crypto_wipe(prk_3e2m, sizeof prk_3e2m);
        return give_up(ctx, EDHOC_UNSPECIFIED);
    }
    n = write_proof(plaintext, &h->own.identity, proof, ead);
    head = cbor_head(out->at, CBOR_BYTES, n + TAG);
    copy(out->at + head, plaintext, n);
    crypt(prk_3e2m, K_3, ctx->th, out->at + head, n, out->at + head + n, 0);
    out->length = head + n + TAG;
    finish(ctx, plaintext, n, &h->own);
    crypto_wipe(prk_3e2m, sizeof prk_3e2m);
    crypto_wipe(plaintext, sizeof plaintext);
    crypto_wipe(mac_bytes, sizeof mac_bytes);
    return CRYPTO_OK;
}

OUT_OF_LINE crypto_status EDHOC(finish)(EDHOC(ctx) * ctx, const handshake *h,
                                        const handshake_bytes *in) {
    uint8_t plaintext[EDHOC_PLAINTEXT_BYTES], tag[TAG], mac_bytes[MAC];
    const uint8_t *bytes, *their_proof;
    cbor_reader reader = {in->at, in->length};
    piece ead;
    size_t length, n;
    if (!cbor_read_bytes(&reader, &bytes, &length) || reader.left != 0 || length <= TAG ||
        length - TAG > EDHOC_PLAINTEXT_BYTES)
        return give_up(ctx, EDHOC_UNSPECIFIED);
    n = length - TAG;
    copy(plaintext, bytes, n);
    copy(tag, bytes + n, TAG);
    if (crypt(ctx->prk, K_3, ctx->th, plaintext, n, tag, 1) != CRYPTO_OK)
        return give_up(ctx, EDHOC_UNSPECIFIED);
    reader = (cbor_reader){plaintext, n};
    if (!read_identity(&reader, &h->peer.identity))
        return give_up(ctx, EDHOC_UNKNOWN_CREDENTIAL);
    their_proof = read_proof(&reader);
    if (!their_proof ||
        next_prk(ctx->prk, SALT_4E3M, ctx->th, h->own.ephemeral, h->peer.public_key) != CRYPTO_OK)
        return give_up(ctx, EDHOC_UNSPECIFIED);
    ead = (piece){reader.at, reader.left};
    mac(mac_bytes, ctx->prk, MAC_3, (piece){NULL, 0}, &h->peer, ctx->th, ead);
    if (!proves(their_proof, &h->peer, ctx->th, ead, mac_bytes) || !take_ead(h, 3, ead))
        return give_up(ctx, EDHOC_UNSPECIFIED);
    finish(ctx, plaintext, n, &h->peer);
    crypto_wipe(plaintext, sizeof plaintext);
    crypto_wipe(mac_bytes, sizeof mac_bytes);
    return CRYPTO_OK;
}

OUT_OF_LINE crypto_status EDHOC(message_4)(EDHOC(ctx) * ctx, const handshake *h,
                                           handshake_bytes *out) {
    piece ead = ead_of(h);
    if (ead.length > EDHOC_PLAINTEXT_BYTES || out->length < CBOR_HEAD_MOST + ead.length + TAG)
        return CRYPTO_BAD_LENGTH;
    size_t head = cbor_head(out->at, CBOR_BYTES, ead.length + TAG);
    uint8_t *text = out->at + head;
    copy(text, ead.at, ead.length);
    out->length = head + ead.length + TAG;
    return crypt(ctx->prk, K_4, ctx->th, text, ead.length, text + ead.length, 0);
}

OUT_OF_LINE crypto_status EDHOC(confirm)(EDHOC(ctx) * ctx, const handshake *h,
                                         const handshake_bytes *in) {
    uint8_t plaintext[EDHOC_PLAINTEXT_BYTES], tag[TAG];
    cbor_reader reader = {in->at, in->length};
    const uint8_t *bytes;
    size_t length, n;
    if (!cbor_read_bytes(&reader, &bytes, &length) || reader.left != 0 || length < TAG ||
        length - TAG > EDHOC_PLAINTEXT_BYTES)
        return give_up(ctx, EDHOC_UNSPECIFIED);
    n = length - TAG;
    copy(plaintext, bytes, n);
    copy(tag, bytes + n, TAG);
    if (crypt(ctx->prk, K_4, ctx->th, plaintext, n, tag, 1) != CRYPTO_OK ||
        !take_ead(h, 4, (piece){plaintext, n}))
        return give_up(ctx, EDHOC_UNSPECIFIED);
    crypto_wipe(plaintext, sizeof plaintext);
    return CRYPTO_OK;
}

size_t EDHOC(item)(uint8_t *out, size_t room, const handshake_item *item) {
    return edhoc_write_item(out, room, item);
}

void EDHOC(error)(const EDHOC(ctx) * ctx, handshake_bytes *out) {
    edhoc_write_error(out->at, ctx->error ? ctx->error : EDHOC_UNSPECIFIED, EDHOC_SUITE);
    out->length = EDHOC_ERROR_BYTES;
}

void EDHOC(key)(const EDHOC(ctx) * ctx, uint8_t *key) {
    copy(key, ctx->key, HASH);
}

/* EDHOC_KeyUpdate (appendix H), which replaces the previous key. */
void EDHOC(update)(EDHOC(ctx) * ctx, const uint8_t *context, size_t length) {
    const piece given = {context, length};
    kdf(ctx->key, HASH, ctx->key, NEXT_PRK_OUT, &given, 1);
}

/* EDHOC_Exporter (section 4.2.1). */
void EDHOC(export)(const EDHOC(ctx) * ctx, uint8_t label, const uint8_t *context, size_t length,
                   uint8_t *out, size_t out_length) {
    const piece given = {context, length};
    uint8_t exporter[HASH];
    kdf(exporter, HASH, ctx->key, PRK_EXPORTER, NULL, 0);
    kdf(out, out_length, exporter, (enum label)label, &given, 1);
    crypto_wipe(exporter, sizeof exporter);
}
