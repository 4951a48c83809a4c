/* EDHOC's method 0 with the first cipher suite of draft-ietf-lake-pqsuites: AES-CCM-16-128-128,
   SHAKE256, ML-KEM-512, ML-DSA-44. A draft: the suite has no number yet, and goes by one for
   private use, -21. The initiator's ephemeral secret has MLKEM_SEED_BYTES, the responder's
   MLKEM_RANDOM_BYTES. */
#ifndef EDHOC_KEM_H
#define EDHOC_KEM_H

#include "handshake/edhoc.h"

enum { EDHOC_KEM_KEY_BYTES = EDHOC_HASH_BYTES };

EDHOC_FUNCTIONS(edhoc_kem);

#endif
