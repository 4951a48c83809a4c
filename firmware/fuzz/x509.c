/* libFuzzer target for certificates: arbitrary bytes, and the client's and the server's with some
   bytes changed, put in or cut out. What is read lies within the certificate, in its order. The
   input is a heap block of the exact size, so that AddressSanitizer sees every access beyond it. */
#include <stdlib.h>
#include <string.h>

#include "certificates.h"
#include "x509.h"

enum { ROOM = 1024 };

static void require(int condition) {
    if (!condition)
        abort();
}

static void judge(const uint8_t *der, size_t length, dtls13_role role) {
    uint8_t *exact = malloc(length + !length);
    x509 of;
    require(exact != NULL);
    memcpy(exact, der, length);
    if (x509_read((reader){exact, length, 0}, role, &of)) {
        const uint8_t *body_end = of.body.at + of.body.left, *end = exact + length;
        require(of.body.at > exact && body_end < of.signature.at);
        require(of.signature.at + of.signature.left == end);
        require(of.issuer.at > of.body.at && of.issuer.at + of.issuer.left < body_end);
        require(of.peer.not_before.at > of.issuer.at + of.issuer.left);
        require(of.peer.not_after.at > of.peer.not_before.at);
        require(of.public_key > of.peer.not_after.at + of.peer.not_after.length);
        require(of.public_key < body_end);
        require(of.peer.name.length > 0 && of.peer.name.at > of.peer.not_after.at);
        require(of.peer.name.at + of.peer.name.length <= body_end);
    }
    free(exact);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    uint8_t der[ROOM];
    if (size < 1 || size > ROOM / 2)
        return 0;
    dtls13_role role = data[0] & 1 ? DTLS13_CLIENT_ROLE : DTLS13_SERVER_ROLE;
    if (data[0] & 2) {
        judge(data + 1, size - 1, role);
        return 0;
    }
    size_t length =
        role == DTLS13_CLIENT_ROLE ? sizeof client_certificate : sizeof server_certificate;
    memcpy(der, role == DTLS13_CLIENT_ROLE ? client_certificate : server_certificate, length);
    /* Triples: where, what, how. */
    for (size_t i = 1; i + 2 < size; i += 3) {
        size_t at = (data[i] + 256u * (data[i + 2] >> 7)) % length;
        switch (data[i + 2] % 3) {
        case 0:
            der[at] = data[i + 1];
            break;
        case 1:
            if (length == ROOM)
                break;
            memmove(der + at + 1, der + at, length++ - at);
            der[at] = data[i + 1];
            break;
        default:
            if (length > 1)
                memmove(der + at, der + at + 1, --length - at);
        }
    }
    judge(der, length, role);
    return 0;
}
