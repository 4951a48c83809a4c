/* The functions of every implementation of GCM; the including header defines gcm_ctx. */
enum { GCM_KEY_BYTES = BLOCK_CIPHER_KEY_BYTES, GCM_NONCE_BYTES = 12, GCM_TAG_BYTES = 16 };

void gcm_init(gcm_ctx *ctx, const uint8_t *key);
crypto_status gcm_encrypt(const gcm_ctx *ctx, const aead_message *m);
crypto_status gcm_decrypt(const gcm_ctx *ctx, const aead_message *m);
