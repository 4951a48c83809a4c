// Asks Crypto++: a line "ALGORITHM KEY NONCE AD MESSAGE" of hexadecimal fields, "-" where one is
// empty, is answered by a line with the ciphertext, the digest, the ciphertext and its tag, or a
// shared secret.
#include <cryptopp/cbcmac.h>
#include <cryptopp/cmac.h>
#include <cryptopp/eax.h>
#include <cryptopp/eccrypto.h>
#include <cryptopp/filters.h>
#include <cryptopp/hex.h>
#include <cryptopp/modes.h>
#include <cryptopp/oids.h>
#include <cryptopp/simon.h>
#include <cryptopp/siphash.h>
#include <cryptopp/skipjack.h>
#include <cryptopp/speck.h>
#include <cryptopp/tea.h>

#include <iostream>
#include <sstream>
#include <string>

using namespace CryptoPP;

struct Case {
    std::string key, nonce, ad, message;
};

static const byte *bytes(const std::string &text) {
    return reinterpret_cast<const byte *>(text.data());
}

template <class Cipher> static std::string blocks(const Case &c) {
    typename ECB_Mode<Cipher>::Encryption cipher(bytes(c.key), c.key.size());
    std::string out;
    StringSource(c.message, true,
                 new StreamTransformationFilter(cipher, new StringSink(out),
                                                StreamTransformationFilter::NO_PADDING));
    return out;
}

template <class Mac> static std::string mac(const Case &c) {
    Mac mac(bytes(c.key), c.key.size());
    std::string out;
    StringSource(c.message, true, new HashFilter(mac, new StringSink(out)));
    return out;
}

template <class Cipher> static std::string eax(const Case &c) {
    typename EAX<Cipher>::Encryption aead;
    aead.SetKeyWithIV(bytes(c.key), c.key.size(), bytes(c.nonce), c.nonce.size());
    std::string out;
    AuthenticatedEncryptionFilter filter(aead, new StringSink(out));
    filter.ChannelPut(AAD_CHANNEL, bytes(c.ad), c.ad.size());
    filter.ChannelMessageEnd(AAD_CHANNEL);
    filter.ChannelPut(DEFAULT_CHANNEL, bytes(c.message), c.message.size());
    filter.ChannelMessageEnd(DEFAULT_CHANNEL);
    return out;
}

// X of the secret key's multiple of the message, a point's X and Y.
template <class Field> static std::string agree(const OID &curve, const Case &c) {
    typename ECDH<Field, NoCofactorMultiplication>::Domain domain(curve);
    const std::string secret = std::string(domain.PrivateKeyLength() - c.key.size(), '\0') + c.key;
    const std::string point = "\4" + c.message;
    std::string shared(domain.AgreedValueLength(), '\0');
    if (!domain.Agree(reinterpret_cast<byte *>(&shared[0]), bytes(secret), bytes(point)))
        throw std::invalid_argument("no point");
    return shared;
}

static std::string answer(const std::string &name, const Case &c) {
    if (name == "speck-64-128")
        return blocks<SPECK64>(c);
    if (name == "simon-64-128")
        return blocks<SIMON64>(c);
    if (name == "skipjack")
        return blocks<SKIPJACK>(c);
    if (name == "xtea")
        return blocks<XTEA>(c);
    if (name == "xtea-eax")
        return eax<XTEA>(c);
    if (name == "xtea-cmac")
        return mac<CMAC<XTEA>>(c);
    if (name == "xtea-cbc-mac")
        return mac<CBC_MAC<XTEA>>(c);
    if (name == "siphash-2-4")
        return mac<SipHash<2, 4, false>>(c);
    if (name == "secp160r1")
        return agree<ECP>(ASN1::secp160r1(), c);
    if (name == "sect233r1")
        return agree<EC2N>(ASN1::sect233r1(), c);
    throw std::invalid_argument(name);
}

static std::string field(std::istream &line) {
    std::string hex, out;
    line >> hex;
    if (hex != "-")
        StringSource(hex, true, new HexDecoder(new StringSink(out)));
    return out;
}

int main() {
    for (std::string text; std::getline(std::cin, text);) {
        std::istringstream line(text);
        std::string name, hex;
        line >> name;
        Case c;
        c.key = field(line);
        c.nonce = field(line);
        c.ad = field(line);
        c.message = field(line);
        StringSource(answer(name, c), true, new HexEncoder(new StringSink(hex), false));
        std::cout << hex << "\n";
    }
}
