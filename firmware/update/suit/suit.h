/* SUIT manifests (draft-ietf-suit-manifest-34) of one image that is verified and invoked: what the
   draft's example 0 (appendix B.1) has, and nothing else. Deterministic encoding (RFC 8949, section
   4.2.1) is required, so a manifest has one form. */
#ifndef SUIT_H
#define SUIT_H

#include <stddef.h>
#include <stdint.h>

enum { SUIT_DIGEST_BYTES = 32, SUIT_UUID_BYTES = 16, SUIT_SIGNATURES_MAX = 2 };

typedef struct {
    const uint8_t *at;
    size_t length;
} suit_bytes;

/* A COSE_Sign1 block, whose payload is detached (RFC 9052, section 4.2). */
typedef struct {
    int32_t algorithm;
    suit_bytes protected_header;
    suit_bytes signature;
} suit_signature;

/* Everything points into the envelope. */
typedef struct {
    suit_bytes manifest;      /* with the head of its byte string, as it is hashed */
    suit_bytes digest;        /* encoded SUIT_Digest of the manifest, which is what is signed */
    const uint8_t *digest_is; /* the SUIT_DIGEST_BYTES in it */
    unsigned signatures;
    suit_signature signature[SUIT_SIGNATURES_MAX];
    uint32_t sequence;
    suit_bytes component;
    const uint8_t *vendor; /* SUIT_UUID_BYTES */
    const uint8_t *class;  /* SUIT_UUID_BYTES */
    const uint8_t *image_digest;
    uint32_t image_bytes;
} suit_manifest;

/* Decodes an envelope that is at the start of the given bytes, which may be longer. Returns its
   length, or 0 if it is none of this form. Nothing in it is verified yet. */
size_t suit_decode(suit_manifest *out, const uint8_t *bytes, size_t length);

/* Size of the longest message to be signed: an algorithm takes at most 5 bytes. */
enum { SUIT_SIGNED_BYTES_MAX = 12 + 9 + 1 + 2 + 36 };

/* Writes what a signature signs (Sig_structure of RFC 9052, section 4.4); returns its length. */
size_t suit_signed(uint8_t *out, const suit_manifest *m, const suit_signature *signature);

#endif
