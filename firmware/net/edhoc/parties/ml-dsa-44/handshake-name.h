#ifndef HANDSHAKE_NAME_H
#define HANDSHAKE_NAME_H

#include "edhoc_kem.h"
#include "mlkem.h"

#define HANDSHAKE(name) edhoc_kem_##name
enum {
    SECRET_BYTES = LEDGER_PEER != 0 ? MLKEM_SEED_BYTES : MLKEM_RANDOM_BYTES,
    SESSION_KEY_BYTES = EDHOC_KEM_KEY_BYTES
};

#endif
