/* No signatures: an external pre-shared key. */
#ifndef CREDENTIAL_H
#define CREDENTIAL_H

#define CREDENTIAL_SCHEME 0

enum { CREDENTIAL_CERTIFICATE_BYTES = 0, CREDENTIAL_SIGNATURE_BYTES_MAX = 0 };

#endif
