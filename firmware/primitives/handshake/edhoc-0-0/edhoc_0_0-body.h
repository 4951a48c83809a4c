#include "edhoc_0_0.h"

#include "ed25519.h"
#include "x25519.h"

#define EDHOC(name) edhoc_0_0_##name
#define EDHOC_METHOD 0
#define EDHOC_SUITE 0
#define EDHOC_KEYGEN x25519_keygen
#define EDHOC_AGREE x25519_agree
#define EDHOC_SIGN ed25519_sign
#define EDHOC_VERIFY ed25519_verify
#include "handshake/edhoc-core.h"
