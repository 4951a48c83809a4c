/* End-entity certificates (X.509 version 3, RFC 5280) in DER, as far as RFC 7925's profile for
   devices needs them: signed directly by a trust anchor, with the algorithms of the build's
   `credential`. Whatever is not as it must be is refused, and what is not known if it is critical.

   Taken: one name, a dNSName of subjectAltName or else the subject's only commonName (section 4.4);
   key usage, extended key usage and basic constraints, by which the key must be for signatures of
   this side and not of an authority. Not done: chains over other authorities, revocation, name
   constraints. Validity is handed on: only who has a clock can judge it. */
#ifndef X509_H
#define X509_H

#include "internal.h"

#if DTLS13_X509

typedef struct {
    dtls13_peer peer;
    reader body, issuer, signature; /* body: what is signed */
    const uint8_t *public_key;
} x509;

/* Reads a certificate of a client or a server; returns 0 if it is to be refused. Whether the
   signature is right, and whose it is, is not looked at. */
int x509_read(reader in, dtls13_role role, x509 *out);

#endif
#endif
