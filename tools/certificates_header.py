#!/usr/bin/env python3
"""Writes firmware/net/coap-dtls13/certificates.h, from joulemark.reference.certificates."""

import subprocess

from joulemark.project import FIRMWARE
from joulemark.reference.certificates import AUTHORITY, CLIENT, NAMES, SERVER, Parties, der

PATH = FIRMWARE / "net/coap-dtls13/certificates.h"
_HEAD = """\
/* The certificates of both sides and the authority that signs them, which
   tools/certificates_header.py writes. Their keys are published and protect nothing: keys.h. */
#ifndef CERTIFICATES_H
#define CERTIFICATES_H

#include "credential.h"
"""


def _array(name: str, data: bytes) -> str:
    return f"static const uint8_t {name}[] = {{{', '.join(f'0x{byte:02x}' for byte in data)}}};\n"


def _of(scheme: str) -> str:
    parties = Parties(scheme)
    return "\n".join(
        [
            _array("client_certificate", der(parties.certificate(CLIENT))),
            _array("server_certificate", der(parties.certificate(SERVER))),
            "/* The authority's own, for implementations that want it whole. */",
            _array("anchor_certificate", der(parties.anchor)),
            _array("anchor_name", parties.anchor.subject.public_bytes()),
            _array("anchor_key", parties.public_key(AUTHORITY)),
        ]
    )


def header() -> str:
    """Return the file's text."""
    names = "\n".join(
        f'#define {side}_NAME "{NAMES[party]}"'
        for side, party in (("CLIENT", CLIENT), ("SERVER", SERVER))
    )
    schemes = {"0x0807": "ed25519", "0x0403": "ecdsa-p256"}
    word, text = "#if", _HEAD
    for number, scheme in schemes.items():
        text += f"\n{word} CREDENTIAL_SCHEME == {number}\n\n{_of(scheme)}"
        word = "#elif"
    text += f"\n#endif\n\n{names}\n\n#endif\n"
    style = ["clang-format-19", f"--assume-filename={PATH}"]
    return subprocess.run(style, input=text, capture_output=True, text=True, check=True).stdout


if __name__ == "__main__":
    PATH.write_text(header())
