#include "context.h"

static crypto_status check(void) {
    return slot_has(SLOT_SECRET_KEY, PRIMITIVE_SECRET_BYTES) ? CRYPTO_OK : CRYPTO_BAD_LENGTH;
}

static crypto_status check_both(void) {
    crypto_status status = check();
    return slot_has(SLOT_PUBLIC_KEY, PRIMITIVE_PUBLIC_BYTES) ? status : CRYPTO_BAD_LENGTH;
}

static crypto_status check_signing(void) {
    crypto_status status = check_both();
    return slot_has(SLOT_SEED, PRIMITIVE_SEED_BYTES) ? status : CRYPTO_BAD_LENGTH;
}

#ifdef MUPQ
#include "mupq.h"

/* Somebody's implementation signs by the private key that a seed expands to: it is made before the
   window. */
static crypto_status before_signing(void) {
    crypto_status status = check_signing();
    return status == CRYPTO_OK ? mupq_expand(slots[SLOT_SECRET_KEY].bytes) : status;
}
#else
#define before_signing check_signing
#endif

static crypto_status check_signed(void) {
    return slot_has(SLOT_PUBLIC_KEY, PRIMITIVE_PUBLIC_BYTES) &&
                   slot_has(SLOT_SIGNATURE, PRIMITIVE_SIGNATURE_BYTES)
               ? CRYPTO_OK
               : CRYPTO_BAD_LENGTH;
}

static crypto_status keygen(void) {
    return primitive_keygen(slots[SLOT_PUBLIC_KEY].bytes, slots[SLOT_SECRET_KEY].bytes);
}

static crypto_status sign(void) {
    return primitive_sign(slots[SLOT_SIGNATURE].bytes, slots[SLOT_SECRET_KEY].bytes,
                          slots[SLOT_PUBLIC_KEY].bytes, slots[SLOT_SEED].bytes, harness_input,
                          slots[SLOT_MESSAGE].length);
}

static crypto_status verify(void) {
    return primitive_verify(slots[SLOT_SIGNATURE].bytes, slots[SLOT_PUBLIC_KEY].bytes,
                            harness_input, slots[SLOT_MESSAGE].length);
}

static void show_public_key(void) {
    slots[SLOT_PUBLIC_KEY].length = PRIMITIVE_PUBLIC_BYTES;
}

static void show_signature(void) {
    slots[SLOT_SIGNATURE].length = PRIMITIVE_SIGNATURE_BYTES;
}

const operation kind_operations[OPERATIONS] = {
    [OPERATION_KEYGEN] = {check, keygen, show_public_key, false},
    [OPERATION_SIGN] = {before_signing, sign, show_signature, false},
    [OPERATION_VERIFY] = {check_signed, verify, show_nothing, false},
};
const uint8_t kind_operation_count = OPERATIONS;
