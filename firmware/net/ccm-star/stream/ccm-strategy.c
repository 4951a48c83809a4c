/* CCM* as in IEEE Std 802.15.4-2006, annex B, with a nonce of 13 bytes. Counters and message
   lengths have two bytes, of which a frame uses only the last. */
#include "ccm-strategy.h"

#include "aes.h"
#include "crypto.h"

enum { NONCE_BYTES = 13, BLOCK = AES_BLOCK_BYTES, KEYS = 2, PLACES = 2, LENGTH_BYTES = 2 };

/* Longer than the rest of any frame. */
enum { FRAME_TICKS = 150 };

/* ---- Keys: the schedules of the last two are kept ---- */

static struct {
    const uint8_t *key;
    aes_ctx ctx;
} kept[KEYS];
static uint8_t oldest;

static const aes_ctx *expand(const uint8_t *key) {
    uint8_t place = oldest;
    oldest = (uint8_t)((oldest + 1) % KEYS);
    kept[place].key = key;
    aes_init(&kept[place].ctx, key);
    return &kept[place].ctx;
}

static const aes_ctx *schedule(const uint8_t *key) {
    for (uint8_t i = 0; i < KEYS; i++)
        if (kept[i].key == key)
            return &kept[i].ctx;
    return expand(key);
}

/* A key whose address held another key before is expanded again. */
void ccm_strategy_keep(const uint8_t *key) {
    for (uint8_t i = 0; i < KEYS; i++)
        if (kept[i].key == key)
            kept[i].key = 0;
    expand(key);
}

/* ---- Key streams ---- */

typedef union {
    uint8_t bytes[BLOCK];
    uint16_t words[BLOCK / 2]; /* aligned, because some ciphers use whole words */
} block;

typedef struct {
    const uint8_t *key;
    uint8_t nonce[NONCE_BYTES];
    uint8_t blocks;
    bool has_mac;
    block first, mac; /* of the CBC-MAC: B0, and its encryption */
    block stream[CCM_STRATEGY_AHEAD_BLOCKS];
} made_ahead;

static made_ahead ahead[PLACES];

static void make_block(block *to, uint8_t flags, const uint8_t *nonce, uint8_t last) {
    to->bytes[0] = flags;
    __builtin_memcpy(to->bytes + 1, nonce, NONCE_BYTES);
    to->bytes[14] = 0;
    to->bytes[15] = last;
}

static void make_stream(const aes_ctx *keys, block *to, const uint8_t *nonce, uint8_t number) {
    make_block(to, LENGTH_BYTES - 1, nonce, number);
    aes_encrypt(keys, to->bytes, to->bytes, 1);
}

static uint8_t open_bytes(const radio_ccm *ccm, uint8_t length) {
    return ccm->encrypt ? ccm->open : length;
}

/* Makes B0 for a frame of `length` bytes without its MIC. */
static void make_first(block *to, const radio_ccm *ccm, uint8_t length) {
    enum { ADATA = 0x40 };
    uint8_t open = open_bytes(ccm, length), tag = (uint8_t)((ccm->mic_bytes - 2) / 2 << 3);
    make_block(to, (uint8_t)((open > 0 ? ADATA : 0) | tag | (LENGTH_BYTES - 1)), ccm->nonce,
               (uint8_t)(length - open));
}

void ccm_strategy_ahead(uint8_t place, const radio_ccm *ccm, uint8_t blocks, uint8_t length) {
    made_ahead *to = &ahead[place];
    const aes_ctx *keys = schedule(ccm->key);
    to->key = ccm->key;
    __builtin_memcpy(to->nonce, ccm->nonce, NONCE_BYTES);
    to->blocks = blocks;
    for (uint8_t i = 0; i < blocks; i++)
        make_stream(keys, &to->stream[i], ccm->nonce, i);
    to->has_mac = length > 0 && ccm->mic_bytes > 0;
    if (to->has_mac) {
        make_first(&to->first, ccm, length);
        aes_encrypt(keys, to->mac.bytes, to->first.bytes, 1);
    }
}

/* An early exit is fine: nonces are public. */
static bool is_for(const made_ahead *one, const radio_ccm *ccm) {
    if (one->blocks == 0 || one->key != ccm->key)
        return false;
    for (uint8_t i = NONCE_BYTES; i-- > 0;)
        if (one->nonce[i] != ccm->nonce[i])
            return false;
    return true;
}

static made_ahead *find_ahead(const radio_ccm *ccm) {
    for (uint8_t i = 0; i < PLACES; i++)
        if (is_for(&ahead[i], ccm))
            return &ahead[i];
    return 0;
}

/* ---- A frame ---- */

typedef struct {
    const radio_ccm *ccm;
    const aes_ctx *keys;
    made_ahead *made;
    block mac, stream;
    uint8_t *frame;
    uint8_t there; /* bytes of the frame that are already in memory */
} work;

/* Fetches the frame up to byte `end`, unless it is already in memory. */
static void until(work *w, uint8_t end) {
    if (end > w->there) {
        radio_fetch(w->frame + w->there, w->there, (uint8_t)(end - w->there));
        w->there = end;
    }
}

static const uint8_t *stream_block(work *w, uint8_t number) {
    if (w->made != 0 && number < w->made->blocks)
        return w->made->stream[number].bytes;
    make_stream(w->keys, &w->stream, w->ccm->nonce, number);
    return w->stream.bytes;
}

static bool same_block(const block *a, const block *b) {
    for (uint8_t i = 0; i < BLOCK / 2; i++)
        if (a->words[i] != b->words[i])
            return false;
    return true;
}

static void authenticate_open(work *w, uint8_t open, uint8_t length) {
    make_first(&w->mac, w->ccm, length);
    if (w->made != 0 && w->made->has_mac && same_block(&w->made->first, &w->mac))
        w->mac = w->made->mac;
    else
        aes_encrypt(w->keys, w->mac.bytes, w->mac.bytes, 1);
    w->mac.bytes[1] ^= open;
    for (uint8_t at = 0, used = 2; at < open;) {
        uint8_t part = (uint8_t)(open - at < BLOCK - used ? open - at : BLOCK - used);
        until(w, (uint8_t)(at + part));
        for (uint8_t i = 0; i < part; i++)
            w->mac.bytes[used + i] ^= w->frame[at + i];
        aes_encrypt(w->keys, w->mac.bytes, w->mac.bytes, 1);
        at = (uint8_t)(at + part);
        used = 0;
    }
}

/* Processes one block of the message, of `bytes` bytes. */
static void crypt_block(work *w, uint8_t at, uint8_t bytes, uint8_t number, bool forward) {
    const uint8_t *stream = stream_block(w, number);
    uint8_t *text = w->frame + at, *mac = w->mac.bytes;
    if (bytes == BLOCK && !forward)
        for (uint8_t i = 0; i < BLOCK; i++)
            mac[i] ^= text[i] ^= stream[i];
    else
        for (uint8_t i = 0; i < bytes; i++) {
            uint8_t plain = forward ? text[i] : (uint8_t)(text[i] ^ stream[i]);
            text[i] ^= stream[i];
            mac[i] ^= plain;
        }
}

/* Applies CCM* to a frame of `length` bytes without its MIC, of which `there` bytes are in memory.
   The MIC goes to w->mac. */
static void run(work *w, uint8_t length, bool forward) {
    uint8_t open = open_bytes(w->ccm, length);
    bool authentic = w->ccm->mic_bytes > 0;
    if (authentic)
        authenticate_open(w, open, length);
    for (uint8_t at = open, number = 1; at < length; number++) {
        uint8_t bytes = (uint8_t)(length - at < BLOCK ? length - at : BLOCK);
        until(w, (uint8_t)(at + bytes));
        crypt_block(w, at, bytes, number, forward);
        if (authentic)
            aes_encrypt(w->keys, w->mac.bytes, w->mac.bytes, 1);
        at = (uint8_t)(at + bytes);
    }
    if (authentic) {
        const uint8_t *first = stream_block(w, 0);
        for (uint8_t i = 0; i < BLOCK; i++)
            w->mac.bytes[i] ^= first[i];
    }
}

static void end(work *w) {
    if (w->made != 0) {
        crypto_wipe(w->made->stream, w->made->blocks * sizeof(block));
        w->made->blocks = 0;
    }
    crypto_wipe(&w->mac, sizeof w->mac);
    crypto_wipe(&w->stream, sizeof w->stream);
}

void ccm_strategy_load(const radio_ccm *ccm, uint8_t *frame, uint8_t length) {
    work w = {.ccm = ccm,
              .keys = schedule(ccm->key),
              .made = find_ahead(ccm),
              .frame = frame,
              .there = length};
    run(&w, length, true);
    for (uint8_t i = 0; i < ccm->mic_bytes; i++)
        frame[length + i] = w.mac.bytes[i];
    end(&w);
    radio_load(frame, (uint8_t)(length + ccm->mic_bytes));
}

/* Number of bytes of the peeked frame that are in memory. */
static uint8_t peeked;

uint8_t ccm_strategy_peek(uint8_t *frame, uint8_t count, radio_reception *reception) {
    (void)reception;
    uint8_t length = radio_arriving();
    peeked = length < count ? length : count;
    if (peeked > 0)
        radio_fetch(frame, 0, peeked);
    return length;
}

/* Fetches the rest; returns whether the radio received the frame correctly. */
static bool rest(uint8_t *frame, uint8_t there, uint8_t length) {
    if (length > there)
        radio_fetch(frame + there, there, (uint8_t)(length - there));
    return radio_wait_frame((radio_time)(radio_now() + FRAME_TICKS));
}

bool ccm_strategy_take(uint8_t *frame, uint8_t length, radio_reception *reception) {
    (void)reception;
    return rest(frame, peeked, length);
}

bool ccm_strategy_open(const radio_ccm *ccm, uint8_t *frame, uint8_t length,
                       radio_reception *reception) {
    (void)reception;
    if (length < ccm->open + ccm->mic_bytes)
        return false;
    uint8_t mic = (uint8_t)(length - ccm->mic_bytes);
    work w = {.ccm = ccm,
              .keys = schedule(ccm->key),
              .made = find_ahead(ccm),
              .frame = frame,
              .there = peeked};
    run(&w, mic, false);
    bool whole = rest(frame, w.there, length);
    bool right = ccm->mic_bytes == 0 || crypto_equal(w.mac.bytes, frame + mic, ccm->mic_bytes);
    end(&w);
    if (whole && right)
        return true;
    crypto_wipe(frame, length);
    return false;
}
