// OpenSSL's libcrypto (www.openssl.org) through its EVP functions. As in `openssl speed`, key
// schedules are computed before the window, so that calls do not repeat them.
#include "../harness.h"

#include <openssl/core_names.h>
#include <openssl/dsa.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>
#include <openssl/provider.h>
#include <openssl/rsa.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MESSAGE_BYTES = 65536, RESULT_BYTES = MESSAGE_BYTES + 64, DOMAIN_SIDES = 2 };

static const library_row *prepared;
static EVP_CIPHER_CTX *cipher;
static EVP_MD_CTX *hash;
static EVP_MD *digest;
static EVP_PKEY *keys[DOMAIN_SIDES];
static EVP_PKEY_CTX *context[DOMAIN_SIDES];
static uint8_t buffer[RESULT_BYTES], result[RESULT_BYTES], first[RESULT_BYTES];
static uint8_t secrets[DOMAIN_SIDES][1024];
static size_t message_bytes, result_bytes, first_bytes, secret_bytes;
static const uint8_t *message, *iv;
static bool accepted, (*execute)(uint64_t count);
static char problem[256];

// Set if a row could not be prepared: an argument or a provider is wrong.
static bool failed;

static void check(bool good) {
    if (!good)
        failed = true;
}

static void take_message(const char *name) {
    message = input(name, &message_bytes);
    check(message_bytes <= MESSAGE_BYTES);
}

// Compares the result of a message with that of the first one.
static bool same(size_t length) {
    result_bytes = length;
    if (first_bytes == 0) {
        memcpy(first, result, length);
        first_bytes = length;
    }
    return length == first_bytes && memcmp(result, first, length) == 0;
}

static bool encrypt_blocks(uint64_t count) {
    for (uint64_t i = 0; i < count; i += PERIOD) {
        int length = 0;
        memcpy(buffer, message, message_bytes);
        if (EVP_EncryptInit_ex2(cipher, NULL, NULL, iv, NULL) != 1)
            return false;
        for (int n = 0; n < PERIOD; n++)
            if (EVP_EncryptUpdate(cipher, buffer, &length, buffer, (int)message_bytes) != 1)
                return false;
        size_t total = message_bytes;
        memcpy(result, buffer, message_bytes);
        if (EVP_CIPHER_CTX_get_mode(cipher) == EVP_CIPH_GCM_MODE) {
            if (EVP_EncryptFinal_ex(cipher, buffer, &length) != 1 ||
                EVP_CIPHER_CTX_ctrl(cipher, EVP_CTRL_AEAD_GET_TAG, 16, result + total) != 1)
                return false;
            total += 16;
        }
        if (!same(total))
            return false;
    }
    return true;
}

static void prepare_cipher(void) {
    static const struct {
        const char *ours, *theirs;
    } NAMES[] = {
        {"aes-128-ctr", "AES-128-CTR"}, {"aes-256-ctr", "AES-256-CTR"},
        {"aes-128-cbc", "AES-128-CBC"}, {"aes-256-cbc", "AES-256-CBC"},
        {"aes-128-gcm", "AES-128-GCM"},
    };
    take_message("message");
    iv = input("iv", NULL);
    EVP_CIPHER *fetched = NULL;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (strcmp(NAMES[i].ours, prepared->algorithm) == 0)
            fetched = EVP_CIPHER_fetch(NULL, NAMES[i].theirs, NULL);
    cipher = EVP_CIPHER_CTX_new();
    check(fetched != NULL && EVP_EncryptInit_ex2(cipher, fetched, input("key", NULL), iv, NULL));
    EVP_CIPHER_CTX_set_padding(cipher, 0);
    EVP_CIPHER_free(fetched);
    execute = encrypt_blocks;
}

static bool hash_messages(uint64_t count) {
    for (uint64_t i = 0; i < count; i += PERIOD) {
        unsigned length = 0;
        if (EVP_DigestInit_ex2(hash, digest, NULL) != 1)
            return false;
        for (int n = 0; n < PERIOD; n++)
            if (EVP_DigestUpdate(hash, message, message_bytes) != 1)
                return false;
        if (EVP_DigestFinal_ex(hash, result, &length) != 1 || !same(length))
            return false;
    }
    return true;
}

// Each call processes a whole message.
static bool digest_messages(uint64_t count) {
    for (uint64_t i = 0; i < count; i += PERIOD) {
        unsigned length = 0;
        for (int n = 0; n < PERIOD; n++)
            if (EVP_Digest(message, message_bytes, result, &length, digest, NULL) != 1)
                return false;
        if (!same(length))
            return false;
    }
    return true;
}

static void prepare_hash(void) {
    static const struct {
        const char *ours, *theirs;
    } NAMES[] = {
        {"md5", "MD5"},
        {"sha-1", "SHA1"},
        {"sha-256", "SHA256"},
        {"sha-512", "SHA512"},
        {"sha3-256", "SHA3-256"},
        {"sha3-512", "SHA3-512"},
        {"whirlpool", "WHIRLPOOL"},
    };
    take_message("message");
    if (strcmp(prepared->algorithm, "whirlpool") == 0) {
        check(OSSL_PROVIDER_load(NULL, "legacy") != NULL);
        check(OSSL_PROVIDER_load(NULL, "default") != NULL);
    }
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++)
        if (strcmp(NAMES[i].ours, prepared->algorithm) == 0)
            digest = EVP_MD_fetch(NULL, NAMES[i].theirs, NULL);
    check(digest != NULL);
    hash = EVP_MD_CTX_new();
    execute = strcmp(prepared->operation, "digest") == 0 ? digest_messages : hash_messages;
}

static void push(OSSL_PARAM_BLD *builder, const char *key, const char *name) {
    size_t length;
    const uint8_t *data = input(name, &length);
    // Parameters hold pointers to the numbers until the key is made.
    BIGNUM *number = BN_bin2bn(data, (int)length, NULL);
    check(OSSL_PARAM_BLD_push_BN(builder, key, number));
}

static EVP_PKEY *made(const char *type, OSSL_PARAM_BLD *builder, int selection) {
    EVP_PKEY *key = NULL;
    OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(builder);
    EVP_PKEY_CTX *making = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    check(EVP_PKEY_fromdata_init(making) == 1 &&
          EVP_PKEY_fromdata(making, &key, selection, parameters) == 1);
    EVP_PKEY_CTX_free(making);
    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(builder);
    return key;
}

static void make_rsa(void) {
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    push(builder, OSSL_PKEY_PARAM_RSA_N, "n");
    push(builder, OSSL_PKEY_PARAM_RSA_E, "e");
    if (has_input("d")) {
        push(builder, OSSL_PKEY_PARAM_RSA_D, "d");
        push(builder, OSSL_PKEY_PARAM_RSA_FACTOR1, "p");
        push(builder, OSSL_PKEY_PARAM_RSA_FACTOR2, "q");
        push(builder, OSSL_PKEY_PARAM_RSA_EXPONENT1, "dp");
        push(builder, OSSL_PKEY_PARAM_RSA_EXPONENT2, "dq");
        push(builder, OSSL_PKEY_PARAM_RSA_COEFFICIENT1, "qinv");
    }
    keys[0] = made("RSA", builder, EVP_PKEY_KEYPAIR);
    context[0] = EVP_PKEY_CTX_new_from_pkey(NULL, keys[0], NULL);
}

static bool encrypt_messages(uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        result_bytes = sizeof result;
        if (EVP_PKEY_encrypt(context[0], result, &result_bytes, message, message_bytes) != 1)
            return false;
    }
    return true;
}

static bool decrypt_messages(uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        size_t length = sizeof result;
        if (EVP_PKEY_decrypt(context[0], result, &length, message, message_bytes) != 1 ||
            !same(length))
            return false;
    }
    return true;
}

static void prepare_oaep(void) {
    bool decrypts = strcmp(prepared->operation, "decrypt") == 0;
    make_rsa();
    check(decrypts ? EVP_PKEY_decrypt_init(context[0]) == 1
                   : EVP_PKEY_encrypt_init(context[0]) == 1);
    check(EVP_PKEY_CTX_set_rsa_padding(context[0], RSA_PKCS1_OAEP_PADDING) == 1 &&
          EVP_PKEY_CTX_set_rsa_oaep_md(context[0], EVP_sha1()) == 1);
    take_message(decrypts ? "ciphertext" : "message");
    execute = decrypts ? decrypt_messages : encrypt_messages;
}

// Hashes and signs, including the algorithm's random numbers.
static bool sign_messages(uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        unsigned length;
        result_bytes = sizeof result;
        if (EVP_Digest(message, message_bytes, buffer, &length, digest, NULL) != 1 ||
            EVP_PKEY_sign(context[0], result, &result_bytes, buffer, length) != 1)
            return false;
    }
    return true;
}

// DER of DSA's and ECDSA's two numbers, each as long as the group's order.
static int order_bytes(void) {
    size_t length;
    input("order", &length);
    return (int)length;
}

static void signature_from_pair(void) {
    int half = order_bytes();
    const uint8_t *pair = input("signature", NULL);
    DSA_SIG *numbers = DSA_SIG_new();
    DSA_SIG_set0(numbers, BN_bin2bn(pair, half, NULL), BN_bin2bn(pair + half, half, NULL));
    uint8_t *end = result;
    result_bytes = (size_t)i2d_DSA_SIG(numbers, &end);
    DSA_SIG_free(numbers);
}

static void pair_from_signature(void) {
    int half = order_bytes();
    const uint8_t *begin = result;
    DSA_SIG *numbers = d2i_DSA_SIG(NULL, &begin, (long)result_bytes);
    const BIGNUM *r, *s;
    DSA_SIG_get0(numbers, &r, &s);
    BN_bn2binpad(r, result, half);
    BN_bn2binpad(s, result + half, half);
    result_bytes = 2 * (size_t)half;
    DSA_SIG_free(numbers);
}

static bool verify_messages(uint64_t count) {
    uint64_t good = 0;
    for (uint64_t i = 0; i < count; i++) {
        unsigned length;
        if (EVP_Digest(message, message_bytes, buffer, &length, digest, NULL) != 1)
            return false;
        good += EVP_PKEY_verify(context[0], result, result_bytes, buffer, length) == 1;
    }
    ERR_clear_error();
    accepted = good == count;
    return good == 0 || good == count;
}

static void prepare_signature(bool pair) {
    bool verifies = strcmp(prepared->operation, "verify") == 0;
    digest = EVP_MD_fetch(NULL, "SHA1", NULL);
    take_message("message");
    check(verifies ? EVP_PKEY_verify_init(context[0]) == 1 : EVP_PKEY_sign_init(context[0]) == 1);
    if (verifies && pair) {
        signature_from_pair();
    } else if (verifies) {
        const uint8_t *signature = input("signature", &result_bytes);
        memcpy(result, signature, result_bytes);
    }
    execute = verifies ? verify_messages : sign_messages;
}

static void prepare_pss(void) {
    make_rsa();
    prepare_signature(false);
    check(EVP_PKEY_CTX_set_rsa_padding(context[0], RSA_PKCS1_PSS_PADDING) == 1 &&
          EVP_PKEY_CTX_set_signature_md(context[0], EVP_sha1()) == 1 &&
          EVP_PKEY_CTX_set_rsa_pss_saltlen(context[0], RSA_PSS_SALTLEN_DIGEST) == 1);
}

static void prepare_pkcs1(void) {
    make_rsa();
    prepare_signature(false);
    check(EVP_PKEY_CTX_set_rsa_padding(context[0], RSA_PKCS1_PADDING) == 1 &&
          EVP_PKEY_CTX_set_signature_md(context[0], EVP_sha1()) == 1);
}

static void prepare_dsa(void) {
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    push(builder, OSSL_PKEY_PARAM_FFC_P, "p");
    push(builder, OSSL_PKEY_PARAM_FFC_Q, "q");
    push(builder, OSSL_PKEY_PARAM_FFC_G, "g");
    push(builder, OSSL_PKEY_PARAM_PUB_KEY, "y");
    push(builder, OSSL_PKEY_PARAM_PRIV_KEY, "x");
    keys[0] = made("DSA", builder, EVP_PKEY_KEYPAIR);
    context[0] = EVP_PKEY_CTX_new_from_pkey(NULL, keys[0], NULL);
    prepare_signature(true);
}

static void prepare_ecdsa(void) {
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    const char *curve = strchr(prepared->algorithm, '-') + 1;
    size_t length;
    const uint8_t *point = input("point", &length);
    OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, curve, 0);
    OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, length);
    push(builder, OSSL_PKEY_PARAM_PRIV_KEY, "x");
    keys[0] = made("EC", builder, EVP_PKEY_KEYPAIR);
    context[0] = EVP_PKEY_CTX_new_from_pkey(NULL, keys[0], NULL);
    prepare_signature(true);
}

static bool make_key_pairs(uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        EVP_PKEY_free(keys[0]);
        keys[0] = NULL;
        if (EVP_PKEY_keygen(context[0], &keys[0]) != 1)
            return false;
    }
    return true;
}

static EVP_PKEY *new_pair(EVP_PKEY_CTX *making) {
    EVP_PKEY *key = NULL;
    check(EVP_PKEY_keygen_init(making) == 1 && EVP_PKEY_keygen(making, &key) == 1);
    return key;
}

// Both sides in turn, which must agree.
static bool agree(uint64_t count) {
    for (uint64_t i = 0; i < count; i++) {
        secret_bytes = sizeof secrets[0];
        if (EVP_PKEY_derive(context[i % DOMAIN_SIDES], secrets[i % DOMAIN_SIDES], &secret_bytes) !=
            1)
            return false;
    }
    return count < DOMAIN_SIDES || memcmp(secrets[0], secrets[1], secret_bytes) == 0;
}

static void prepare_dh(void) {
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    push(builder, OSSL_PKEY_PARAM_FFC_P, "p");
    push(builder, OSSL_PKEY_PARAM_FFC_G, "g");
    EVP_PKEY *domain = made("DH", builder, EVP_PKEY_KEY_PARAMETERS);
    EVP_PKEY_CTX *making = EVP_PKEY_CTX_new_from_pkey(NULL, domain, NULL);
    for (int side = 0; side < DOMAIN_SIDES; side++)
        keys[side] = new_pair(making);
    if (strcmp(prepared->operation, "keygen") == 0) {
        context[0] = making;
        execute = make_key_pairs;
        return;
    }
    EVP_PKEY_CTX_free(making);
    for (int side = 0; side < DOMAIN_SIDES; side++) {
        context[side] = EVP_PKEY_CTX_new_from_pkey(NULL, keys[side], NULL);
        check(EVP_PKEY_derive_init(context[side]) == 1 &&
              EVP_PKEY_CTX_set_dh_pad(context[side], 1) == 1 &&
              EVP_PKEY_derive_set_peer(context[side], keys[1 - side]) == 1);
    }
    execute = agree;
}

static void give_number(const char *name, EVP_PKEY *key, const char *parameter) {
    BIGNUM *number = NULL;
    uint8_t data[1024];
    EVP_PKEY_get_bn_param(key, parameter, &number);
    output(name, data, (size_t)BN_bn2bin(number, data));
    BN_clear_free(number);
}

static const library_row ROWS[] = {
    {"aes-128-ctr", "encrypt", prepare_cipher},
    {"aes-256-ctr", "encrypt", prepare_cipher},
    {"aes-128-cbc", "encrypt", prepare_cipher},
    {"aes-256-cbc", "encrypt", prepare_cipher},
    {"aes-128-gcm", "encrypt", prepare_cipher},
    {"md5", "hash", prepare_hash},
    {"md5", "digest", prepare_hash},
    {"sha-1", "hash", prepare_hash},
    {"sha-1", "digest", prepare_hash},
    {"sha-256", "hash", prepare_hash},
    {"sha-256", "digest", prepare_hash},
    {"sha-512", "hash", prepare_hash},
    {"sha-512", "digest", prepare_hash},
    {"sha3-256", "hash", prepare_hash},
    {"sha3-256", "digest", prepare_hash},
    {"sha3-512", "hash", prepare_hash},
    {"sha3-512", "digest", prepare_hash},
    {"whirlpool", "hash", prepare_hash},
    {"whirlpool", "digest", prepare_hash},
    {"dh-1024", "agree", prepare_dh},
    {"dh-1024", "keygen", prepare_dh},
    {"dh-2048", "agree", prepare_dh},
    {"dh-2048", "keygen", prepare_dh},
    {"dsa-1024", "sign", prepare_dsa},
    {"dsa-1024", "verify", prepare_dsa},
    {"ecdsa-sect233r1", "sign", prepare_ecdsa},
    {"ecdsa-sect233r1", "verify", prepare_ecdsa},
    {"ecdsa-secp256k1", "sign", prepare_ecdsa},
    {"ecdsa-secp256k1", "verify", prepare_ecdsa},
    {"rsa-1024-oaep", "decrypt", prepare_oaep},
    {"rsa-1024-oaep", "encrypt", prepare_oaep},
    {"rsa-1024-pkcs1", "sign", prepare_pkcs1},
    {"rsa-1024-pkcs1", "verify", prepare_pkcs1},
    {"rsa-1024-pss", "sign", prepare_pss},
    {"rsa-1024-pss", "verify", prepare_pss},
    {"rsa-2048-oaep", "decrypt", prepare_oaep},
    {"rsa-2048-oaep", "encrypt", prepare_oaep},
    {"rsa-2048-pkcs1", "sign", prepare_pkcs1},
    {"rsa-2048-pkcs1", "verify", prepare_pkcs1},
    {"rsa-2048-pss", "sign", prepare_pss},
    {"rsa-2048-pss", "verify", prepare_pss},
    {NULL, NULL, NULL},
};

const char library_name[] = "openssl";

const char *library_version(void) {
    return OpenSSL_version(OPENSSL_VERSION_STRING);
}

const library_row *library_rows(void) {
    return ROWS;
}

const char *library_prepare(const library_row *row) {
    EVP_CIPHER_CTX_free(cipher);
    EVP_MD_CTX_free(hash);
    EVP_MD_free(digest);
    for (int side = 0; side < DOMAIN_SIDES; side++) {
        EVP_PKEY_CTX_free(context[side]);
        EVP_PKEY_free(keys[side]);
        context[side] = NULL;
        keys[side] = NULL;
    }
    cipher = NULL;
    hash = NULL;
    digest = NULL;
    first_bytes = 0;
    failed = false;
    prepared = row;
    ERR_clear_error();
    row->prepare();
    if (!failed)
        return NULL;
    unsigned long code = ERR_peek_error();
    ERR_error_string_n(code, problem, sizeof problem);
    return problem;
}

int library_run(uint64_t count) {
    return execute(count);
}

void library_finish(void) {
    bool pair = strncmp(prepared->algorithm, "dsa-", 4) == 0 ||
                strncmp(prepared->algorithm, "ecdsa-", 6) == 0;
    if (strcmp(prepared->operation, "verify") == 0) {
        output("output", &(uint8_t){accepted}, 1);
    } else if (execute == agree) {
        give_number("private", keys[0], OSSL_PKEY_PARAM_PRIV_KEY);
        give_number("peer", keys[1], OSSL_PKEY_PARAM_PUB_KEY);
        output("output", secrets[0], secret_bytes);
    } else if (execute == make_key_pairs) {
        give_number("private", keys[0], OSSL_PKEY_PARAM_PRIV_KEY);
        give_number("public", keys[0], OSSL_PKEY_PARAM_PUB_KEY);
    } else {
        if (pair)
            pair_from_signature();
        output("output", result, result_bytes);
    }
}
