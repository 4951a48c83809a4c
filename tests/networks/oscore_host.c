/* OSCORE's functions for tests on this machine, with contexts of their own size. */
#include "oscore.h"

static oscore_id id_of(const uint8_t *bytes, size_t length) {
    oscore_id id = {.length = (uint8_t)length};
    for (size_t i = 0; i < length; i++)
        id.bytes[i] = bytes[i];
    return id;
}

size_t host_context_bytes(void);
size_t host_context_bytes(void) {
    return sizeof(oscore_ctx);
}

void host_init(oscore_ctx *ctx, const uint8_t *secret, const uint8_t *salt, size_t salt_length,
               const uint8_t *sender, size_t sender_length, const uint8_t *recipient,
               size_t recipient_length, const uint8_t *id_context, size_t id_context_length);
void host_init(oscore_ctx *ctx, const uint8_t *secret, const uint8_t *salt, size_t salt_length,
               const uint8_t *sender, size_t sender_length, const uint8_t *recipient,
               size_t recipient_length, const uint8_t *id_context, size_t id_context_length) {
    oscore_id own = id_of(sender, sender_length), other = id_of(recipient, recipient_length);
    oscore_id context = id_of(id_context, id_context_length);
    oscore_init(ctx, secret, salt, salt_length, &own, &other,
                id_context_length > 0 ? &context : NULL);
}

void host_keys(const oscore_ctx *ctx, uint8_t *out);
void host_keys(const oscore_ctx *ctx, uint8_t *out) {
    for (size_t i = 0; i < OSCORE_KEY_BYTES; i++) {
        out[i] = ctx->sender_key[i];
        out[OSCORE_KEY_BYTES + i] = ctx->recipient_key[i];
    }
    for (size_t i = 0; i < OSCORE_NONCE_BYTES; i++)
        out[2 * OSCORE_KEY_BYTES + i] = ctx->common_iv[i];
}

void host_set_sequence(oscore_ctx *ctx, uint32_t sequence);
void host_set_sequence(oscore_ctx *ctx, uint32_t sequence) {
    ctx->sequence = sequence;
}

uint32_t host_echo(const oscore_ctx *ctx);
uint32_t host_echo(const oscore_ctx *ctx) {
    return ctx->echo;
}

/* What is kept through a reboot, and whether it can be written. */
static uint32_t kept, can_keep = 1;

static bool keep(uint32_t end) {
    if (can_keep)
        kept = end;
    return can_keep;
}

void host_resume(oscore_ctx *ctx, uint32_t reserved, uint32_t works);
void host_resume(oscore_ctx *ctx, uint32_t reserved, uint32_t works) {
    can_keep = works;
    oscore_resume(ctx, reserved, keep);
}

/* Returns what was kept since the last call, or 0. */
uint32_t host_kept(void);
uint32_t host_kept(void) {
    uint32_t last = kept;
    kept = 0;
    return last;
}
