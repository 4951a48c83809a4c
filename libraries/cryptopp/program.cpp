// Crypto++ (www.cryptopp.com) with the parameters of its own benchmark: calls, lengths and
// generator as in bench1.cpp and bench2.cpp of 5.6.5, so that `cryptest b` can be run for
// comparison.
#include "../harness.h"

#include <cryptopp/aes.h>
#include <cryptopp/blowfish.h>
#include <cryptopp/des.h>
#include <cryptopp/dh.h>
#include <cryptopp/dsa.h>
#include <cryptopp/eccrypto.h>
#include <cryptopp/gcm.h>
#include <cryptopp/gfpcrypt.h>
#include <cryptopp/idea.h>
#define CRYPTOPP_ENABLE_NAMESPACE_WEAK 1
#include <cryptopp/md5.h>
#include <cryptopp/modes.h>
#include <cryptopp/oids.h>
#include <cryptopp/pssr.h>
#include <cryptopp/rc5.h>
#include <cryptopp/rc6.h>
#include <cryptopp/rsa.h>
#include <cryptopp/sha.h>
#include <cryptopp/sha3.h>
#include <cryptopp/twofish.h>
#include <cryptopp/whrlpool.h>
#include <cryptopp/xtrcrypt.h>

#include <cstring>
#include <memory>
#include <string>
#include <vector>

using namespace CryptoPP;

namespace {

struct Bytes {
    const byte *data;
    std::size_t length;

    explicit Bytes(const char *name) : length(0) {
        data = input(name, &length);
    }
};

Integer number(const char *name) {
    Bytes bytes(name);
    return Integer(bytes.data, bytes.length);
}

void give(const char *name, const SecByteBlock &value) {
    output(name, value, value.size());
}

// The kind of generator that the library's benchmark uses within its windows.
class Generator {
  public:
    Generator() {
        Bytes seed("seed");
        m_cipher.SetKeyWithIV(seed.data, 16, seed.data + 16, 16);
    }

    operator RandomNumberGenerator &() {
        return m_cipher;
    }

  private:
    OFB_Mode<AES>::Encryption m_cipher;
};

// What a row executes.
class Work {
  public:
    virtual ~Work() = default;
    // Returns false if an execution gave a wrong result.
    virtual bool run(uint64_t count) = 0;
    virtual void finish() = 0;
};

// Calls on a buffer, PERIOD of them per message; all messages are equal.
class Stream : public Work {
  public:
    bool run(uint64_t count) override {
        for (uint64_t i = 0; i < count; i += PERIOD) {
            begin();
            for (int n = 0; n < PERIOD; n++)
                call();
            end(m_result);
            if (m_first.empty())
                m_first = m_result;
            else if (m_result != m_first)
                return false;
        }
        return true;
    }

    void finish() override {
        output("output", m_result.data(), m_result.size());
    }

  protected:
    virtual void begin() = 0;
    virtual void call() = 0;
    virtual void end(std::vector<byte> &result) = 0;

    std::vector<byte> m_result, m_first;
};

template <class Cipher> class Encrypting : public Stream {
  public:
    Encrypting(const NameValuePairs &parameters = g_nullNameValuePairs)
        : m_message("message"), m_buffer(m_message.length), m_iv("iv") {
        Bytes key("key");
        m_cipher.SetKey(key.data, key.length,
                        CombinedNameValuePairs(
                            parameters, MakeParameters(Name::IV(), ConstByteArrayParameter(
                                                                       m_iv.data, m_iv.length))));
    }

  protected:
    void begin() override {
        std::memcpy(m_buffer, m_message.data, m_message.length);
        m_cipher.Resynchronize(m_iv.data, static_cast<int>(m_iv.length));
    }

    void call() override {
        m_cipher.ProcessString(m_buffer, m_buffer.size());
    }

    void end(std::vector<byte> &result) override {
        result.assign(m_buffer.begin(), m_buffer.end());
    }

    Bytes m_message;
    SecByteBlock m_buffer;
    Bytes m_iv;
    Cipher m_cipher;
};

// Encrypts from one buffer to another: DES_XEX3 of 8.7.0 encrypts wrongly in place, because it
// writes its output before it reads the data to be combined with it.
template <class Cipher> class EncryptingApart : public Encrypting<Cipher> {
  public:
    EncryptingApart() : m_other(this->m_buffer.size()) {
    }

  protected:
    void call() override {
        this->m_cipher.ProcessData(m_other, this->m_buffer, m_other.size());
        m_other.swap(this->m_buffer);
    }

  private:
    SecByteBlock m_other;
};

template <class Cipher> class Authenticating : public Encrypting<Cipher> {
  public:
    using Encrypting<Cipher>::Encrypting;

  protected:
    void end(std::vector<byte> &result) override {
        Encrypting<Cipher>::end(result);
        byte tag[16];
        this->m_cipher.TruncatedFinal(tag, sizeof tag);
        result.insert(result.end(), tag, tag + sizeof tag);
    }
};

template <class Hash> class Hashing : public Stream {
  public:
    Hashing() : m_message("message") {
    }

  protected:
    void begin() override {
    }

    void call() override {
        m_hash.Update(m_message.data, m_message.length);
    }

    void end(std::vector<byte> &result) override {
        result.resize(m_hash.DigestSize());
        m_hash.Final(result.data());
    }

  private:
    Bytes m_message;
    Hash m_hash;
};

class Encryption : public Work {
  public:
    explicit Encryption(std::unique_ptr<PK_Encryptor> key)
        : m_key(std::move(key)), m_message("message"),
          m_ciphertext(m_key->CiphertextLength(m_message.length)) {
    }

    bool run(uint64_t count) override {
        for (uint64_t i = 0; i < count; i++)
            m_key->Encrypt(m_generator, m_message.data, m_message.length, m_ciphertext);
        return true;
    }

    void finish() override {
        give("output", m_ciphertext);
    }

  private:
    Generator m_generator;
    std::unique_ptr<PK_Encryptor> m_key;
    Bytes m_message;
    SecByteBlock m_ciphertext;
};

class Decryption : public Work {
  public:
    explicit Decryption(std::unique_ptr<PK_Decryptor> key)
        : m_key(std::move(key)), m_ciphertext("ciphertext"),
          m_message(m_key->MaxPlaintextLength(m_ciphertext.length)) {
    }

    bool run(uint64_t count) override {
        for (uint64_t i = 0; i < count; i++) {
            DecodingResult got =
                m_key->Decrypt(m_generator, m_ciphertext.data, m_ciphertext.length, m_message);
            if (!got.isValidCoding)
                return false;
            m_length = got.messageLength;
        }
        return true;
    }

    void finish() override {
        output("output", m_message, m_length);
    }

  private:
    Generator m_generator;
    std::unique_ptr<PK_Decryptor> m_key;
    Bytes m_ciphertext;
    SecByteBlock m_message;
    std::size_t m_length = 0;
};

class Signing : public Work {
  public:
    explicit Signing(std::unique_ptr<PK_Signer> key)
        : m_key(std::move(key)), m_message("message"), m_signature(m_key->SignatureLength()) {
    }

    bool run(uint64_t count) override {
        for (uint64_t i = 0; i < count; i++)
            m_key->SignMessage(m_generator, m_message.data, m_message.length, m_signature);
        return true;
    }

    void finish() override {
        give("output", m_signature);
    }

  private:
    Generator m_generator;
    std::unique_ptr<PK_Signer> m_key;
    Bytes m_message;
    SecByteBlock m_signature;
};

// Outputs the number of accepted signatures, so that a forged one can be tried.
class Verifying : public Work {
  public:
    explicit Verifying(std::unique_ptr<PK_Verifier> key)
        : m_key(std::move(key)), m_message("message"), m_signature("signature") {
    }

    bool run(uint64_t count) override {
        uint64_t accepted = 0;
        for (uint64_t i = 0; i < count; i++)
            accepted += m_key->VerifyMessage(m_message.data, m_message.length, m_signature.data,
                                             m_signature.length);
        m_accepted = accepted == count;
        return accepted == 0 || accepted == count;
    }

    void finish() override {
        output("output", &m_accepted, 1);
    }

  private:
    std::unique_ptr<PK_Verifier> m_key;
    Bytes m_message, m_signature;
    byte m_accepted = 0;
};

template <class Domain> class KeyPairs : public Work {
  public:
    explicit KeyPairs(Domain &&domain)
        : m_domain(domain), m_private(m_domain.PrivateKeyLength()),
          m_public(m_domain.PublicKeyLength()) {
    }

    bool run(uint64_t count) override {
        for (uint64_t i = 0; i < count; i++)
            m_domain.GenerateKeyPair(m_generator, m_private, m_public);
        return true;
    }

    void finish() override {
        give("private", m_private);
        give("public", m_public);
    }

  private:
    Generator m_generator;
    Domain m_domain;
    SecByteBlock m_private, m_public;
};

// Both sides in turn, which must agree.
template <class Domain> class Agreeing : public Work {
  public:
    explicit Agreeing(Domain &&domain) : m_domain(domain) {
        for (int side = 0; side < 2; side++) {
            m_private[side].resize(m_domain.PrivateKeyLength());
            m_public[side].resize(m_domain.PublicKeyLength());
            m_secret[side].resize(m_domain.AgreedValueLength());
            m_domain.GenerateKeyPair(m_generator, m_private[side], m_public[side]);
        }
    }

    bool run(uint64_t count) override {
        for (uint64_t i = 0; i < count; i++) {
            int side = i % 2;
            if (!m_domain.Agree(m_secret[side], m_private[side], m_public[1 - side]))
                return false;
        }
        return count < 2 || m_secret[0] == m_secret[1];
    }

    void finish() override {
        give("private", m_private[0]);
        give("peer", m_public[1]);
        give("output", m_secret[0]);
    }

  private:
    Generator m_generator;
    Domain m_domain;
    SecByteBlock m_private[2], m_public[2], m_secret[2];
};

RSA::PrivateKey rsa() {
    RSA::PrivateKey key;
    Integer n = number("n"), e = number("e"), d = number("d"), p = number("p"), q = number("q");
    key.Initialize(n, e, d, p, q, d % (p - 1), d % (q - 1), q.InverseMod(p));
    return key;
}

RSA::PublicKey rsa_public() {
    RSA::PublicKey key;
    key.Initialize(number("n"), number("e"));
    return key;
}

template <class Key> std::unique_ptr<Key> dsa(const char *secret_or_public) {
    std::unique_ptr<Key> made(new Key);
    made->AccessKey().Initialize(number("p"), number("q"), number("g"), number(secret_or_public));
    return made;
}

template <class Curve> std::unique_ptr<Work> ecdsa(const OID &oid, bool verify) {
    typename ECDSA<Curve, SHA1>::PrivateKey secret;
    secret.Initialize(oid, number("x"));
    if (!verify) {
        std::unique_ptr<PK_Signer> key(new typename ECDSA<Curve, SHA1>::Signer(secret));
        return std::unique_ptr<Work>(new Signing(std::move(key)));
    }
    typename ECDSA<Curve, SHA1>::PublicKey open;
    secret.MakePublicKey(open);
    std::unique_ptr<PK_Verifier> key(new typename ECDSA<Curve, SHA1>::Verifier(open));
    return std::unique_ptr<Work>(new Verifying(std::move(key)));
}

DH dh() {
    return DH(number("p"), number("g"));
}

XTR_DH xtr() {
    return XTR_DH(number("p"), number("q"), GFP2Element(number("g1"), number("g2")));
}

typedef std::unique_ptr<Work> (*Make)();

template <class W> std::unique_ptr<Work> make() {
    return std::unique_ptr<Work>(new W);
}

template <int TableBytes> std::unique_ptr<Work> gcm() {
    return std::unique_ptr<Work>(new Authenticating<GCM<AES>::Encryption>(
        MakeParameters(Name::TableSize(), int(TableBytes))));
}

std::unique_ptr<Work> rsa_encrypt() {
    std::unique_ptr<PK_Encryptor> key(new RSAES<OAEP<SHA1>>::Encryptor(rsa_public()));
    return std::unique_ptr<Work>(new Encryption(std::move(key)));
}

std::unique_ptr<Work> rsa_decrypt() {
    std::unique_ptr<PK_Decryptor> key(new RSAES<OAEP<SHA1>>::Decryptor(rsa()));
    return std::unique_ptr<Work>(new Decryption(std::move(key)));
}

std::unique_ptr<Work> rsa_sign() {
    std::unique_ptr<PK_Signer> key(new RSASS<PSSR, SHA1>::Signer(rsa()));
    return std::unique_ptr<Work>(new Signing(std::move(key)));
}

std::unique_ptr<Work> rsa_verify() {
    std::unique_ptr<PK_Verifier> key(new RSASS<PSSR, SHA1>::Verifier(rsa_public()));
    return std::unique_ptr<Work>(new Verifying(std::move(key)));
}

std::unique_ptr<Work> dsa_sign() {
    return std::unique_ptr<Work>(new Signing(dsa<DSA::Signer>("x")));
}

std::unique_ptr<Work> dsa_verify() {
    return std::unique_ptr<Work>(new Verifying(dsa<DSA::Verifier>("y")));
}

std::unique_ptr<Work> secp256k1_sign() {
    return ecdsa<ECP>(ASN1::secp256k1(), false);
}

std::unique_ptr<Work> secp256k1_verify() {
    return ecdsa<ECP>(ASN1::secp256k1(), true);
}

std::unique_ptr<Work> sect233r1_sign() {
    return ecdsa<EC2N>(ASN1::sect233r1(), false);
}

std::unique_ptr<Work> sect233r1_verify() {
    return ecdsa<EC2N>(ASN1::sect233r1(), true);
}

std::unique_ptr<Work> dh_keygen() {
    return std::unique_ptr<Work>(new KeyPairs<DH>(dh()));
}

std::unique_ptr<Work> dh_agree() {
    return std::unique_ptr<Work>(new Agreeing<DH>(dh()));
}

std::unique_ptr<Work> xtr_keygen() {
    return std::unique_ptr<Work>(new KeyPairs<XTR_DH>(xtr()));
}

std::unique_ptr<Work> xtr_agree() {
    return std::unique_ptr<Work>(new Agreeing<XTR_DH>(xtr()));
}

std::unique_ptr<Work> g_work;
std::string g_problem;

template <Make How> void prepare() {
    g_work = How();
}

const library_row ROWS[] = {
    {"aes-128-ctr", "encrypt", prepare<make<Encrypting<CTR_Mode<AES>::Encryption>>>},
    {"aes-256-ctr", "encrypt", prepare<make<Encrypting<CTR_Mode<AES>::Encryption>>>},
    {"aes-128-gcm-2k", "encrypt", prepare<gcm<2048>>},
    {"aes-128-gcm-64k", "encrypt", prepare<gcm<65536>>},
    {"blowfish-128-ctr", "encrypt", prepare<make<Encrypting<CTR_Mode<Blowfish>::Encryption>>>},
    {"des-ctr", "encrypt", prepare<make<Encrypting<CTR_Mode<DES>::Encryption>>>},
    {"des-ede3-ctr", "encrypt", prepare<make<Encrypting<CTR_Mode<DES_EDE3>::Encryption>>>},
    {"des-xex3-ctr", "encrypt", prepare<make<EncryptingApart<CTR_Mode<DES_XEX3>::Encryption>>>},
    {"idea-ctr", "encrypt", prepare<make<Encrypting<CTR_Mode<IDEA>::Encryption>>>},
    {"rc5-32-16-ctr", "encrypt", prepare<make<Encrypting<CTR_Mode<RC5>::Encryption>>>},
    {"rc6-128-ctr", "encrypt", prepare<make<Encrypting<CTR_Mode<RC6>::Encryption>>>},
    {"twofish-128-ctr", "encrypt", prepare<make<Encrypting<CTR_Mode<Twofish>::Encryption>>>},
    {"md5", "hash", prepare<make<Hashing<Weak::MD5>>>},
    {"sha-1", "hash", prepare<make<Hashing<SHA1>>>},
    {"sha-256", "hash", prepare<make<Hashing<SHA256>>>},
    {"sha-512", "hash", prepare<make<Hashing<SHA512>>>},
    {"sha3-256", "hash", prepare<make<Hashing<SHA3_256>>>},
    {"sha3-512", "hash", prepare<make<Hashing<SHA3_512>>>},
    {"whirlpool", "hash", prepare<make<Hashing<Whirlpool>>>},
    {"dh-1024", "agree", prepare<dh_agree>},
    {"dh-1024", "keygen", prepare<dh_keygen>},
    {"dh-2048", "agree", prepare<dh_agree>},
    {"dh-2048", "keygen", prepare<dh_keygen>},
    {"dsa-1024", "sign", prepare<dsa_sign>},
    {"dsa-1024", "verify", prepare<dsa_verify>},
    {"ecdsa-sect233r1", "sign", prepare<sect233r1_sign>},
    {"ecdsa-sect233r1", "verify", prepare<sect233r1_verify>},
    {"ecdsa-secp256k1", "sign", prepare<secp256k1_sign>},
    {"ecdsa-secp256k1", "verify", prepare<secp256k1_verify>},
    {"rsa-1024-oaep", "decrypt", prepare<rsa_decrypt>},
    {"rsa-1024-oaep", "encrypt", prepare<rsa_encrypt>},
    {"rsa-1024-pss", "sign", prepare<rsa_sign>},
    {"rsa-1024-pss", "verify", prepare<rsa_verify>},
    {"rsa-2048-oaep", "decrypt", prepare<rsa_decrypt>},
    {"rsa-2048-oaep", "encrypt", prepare<rsa_encrypt>},
    {"rsa-2048-pss", "sign", prepare<rsa_sign>},
    {"rsa-2048-pss", "verify", prepare<rsa_verify>},
    {"xtr-dh-342", "agree", prepare<xtr_agree>},
    {"xtr-dh-342", "keygen", prepare<xtr_keygen>},
    {nullptr, nullptr, nullptr},
};

} // namespace

const char library_name[] = "cryptopp";

const char *library_version() {
#if CRYPTOPP_VERSION >= 600
    const int version = LibraryVersion();
#else
    const int version = CRYPTOPP_VERSION; // Releases before 6.0 have it only in their headers.
#endif
    static const std::string text = std::to_string(version / 100) + "." +
                                    std::to_string(version / 10 % 10) + "." +
                                    std::to_string(version % 10);
    return text.c_str();
}

const library_row *library_rows() {
    return ROWS;
}

const char *library_prepare(const library_row *row) {
    try {
        row->prepare();
    } catch (const std::exception &error) {
        g_problem = error.what();
        return g_problem.c_str();
    }
    return nullptr;
}

int library_run(uint64_t count) {
    try {
        return g_work->run(count);
    } catch (const std::exception &) {
        return false;
    }
}

void library_finish() {
    g_work->finish();
}
