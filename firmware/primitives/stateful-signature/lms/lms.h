/* LMS and HSS (RFC 8554) with SHA-256, whole or cut to 192 bits (SP 800-208, section 4). */
#ifndef LMS_H
#define LMS_H

#include "stateful-signature.h"

enum { LMS_PUBLIC_BYTES = LMS_PUBLIC, LMS_SIGNATURE_BYTES = LMS_SIGNATURE };

typedef struct {
    char unused; /* all working data is on the stack */
} lms_ctx;

/* Verifies an HSS signature (section 6.3) or, if LMS_IS_HSS is 0, an LMS signature (section 5.4.2).
   Any tree height and Winternitz parameter is taken, as the public key says; the hash is as long as
   LMS_PUBLIC_BYTES says. */
crypto_status lms_verify(const uint8_t *signature, size_t signature_length,
                         const uint8_t *public_key, const uint8_t *message, size_t length);

#endif
