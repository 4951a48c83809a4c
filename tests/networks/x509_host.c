/* Judges certificates on this machine, as a device does before it looks at whose they are. Each
   line of the input has the role of the certificate's owner and the certificate; each of the output
   is `refused`, or the name and the key. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certificates.h"
#include "x509.h"

enum { BYTES_MAX = 2000 };

static int nibble(char digit) {
    return digit <= '9' ? digit - '0' : digit - 'a' + 10;
}

static int is_anchor_s(const x509 *of) {
    return of->issuer.left == sizeof anchor_name &&
           memcmp(of->issuer.at, anchor_name, sizeof anchor_name) == 0 &&
           credential_verify(of->signature.at, of->signature.left, anchor_key, of->body.at,
                             of->body.left);
}

int main(void) {
    static char line[2 * BYTES_MAX + 10];
    while (fgets(line, sizeof line, stdin) != NULL) {
        const char *text = strchr(line, ' ') + 1;
        size_t length = strcspn(text, "\n") / 2;
        uint8_t *der = malloc(length + !length); /* exact: sanitizers watch its end */
        for (size_t i = 0; i < length; i++)
            der[i] = (uint8_t)(nibble(text[2 * i]) << 4 | nibble(text[2 * i + 1]));
        x509 of;
        dtls13_role role = line[0] == 'c' ? DTLS13_CLIENT_ROLE : DTLS13_SERVER_ROLE;
        if (x509_read((reader){der, length, 0}, role, &of) && is_anchor_s(&of)) {
            for (size_t i = 0; i < of.peer.name.length; i++)
                printf("%02x", of.peer.name.at[i]);
            printf(" ");
            for (size_t i = 0; i < CREDENTIAL_CERTIFICATE_BYTES - CREDENTIAL_PREFIX_BYTES; i++)
                printf("%02x", of.public_key[i]);
            printf("\n");
        } else {
            printf("refused\n");
        }
        free(der);
    }
    return 0;
}
