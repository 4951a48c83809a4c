// TI's AES accelerator as its driver sees it: key store, ECB and CCM by DMA.
#pragma once

#include "chip.hpp"

namespace ti_aes {

enum { KEY_STORE = 1, CCM = 1 << 18, ENCRYPT = 4, SAVED = 1 << 30, KEYS = 8 };

static uint8_t keys[KEYS][16];
static bool written[KEYS];
static uint32_t selected, control, status, area, write_area, text_bytes, open_bytes;
static uint32_t address_in, address_out, iv[4], tag[4];
static uint8_t open[256];
static bool is_fed, is_open_done;

static uint8_t *memory(uint32_t address) {
    return (uint8_t *)(uintptr_t)address;
}

static void run(uint32_t bytes) {
    if (!written[area])
        abort(); // a key that nobody wrote
    uint8_t *text = memory(address_out);
    if ((control & CCM) == 0) {
        engine_aes(keys[area], text, memory(address_in), bytes / 16);
    } else {
        uint8_t nonce[13];
        memcpy(nonce, (uint8_t *)iv + 1, sizeof nonce);
        if (bytes != 0 && address_out != address_in)
            memcpy(text, memory(address_in), bytes);
        engine_message m = {
            keys[area],    nonce, open, open_bytes, text, bytes, (control >> 22 & 7) * 2 + 2,
            (uint8_t *)tag};
        engine_ccm(&m, (control & ENCRYPT) != 0);
        control |= SAVED;
    }
    status |= 3;
}

static uint32_t zero() {
    return 0;
}
static uint32_t status_get() {
    return chip::told(status);
}
static void clear(uint32_t bits) {
    status &= ~bits;
}
static void select(uint32_t value) {
    selected = value;
}
static uint32_t control_get() {
    return control;
}
static void control_set(uint32_t value) {
    control = value & ~(uint32_t)SAVED;
    is_fed = is_open_done = false;
}
static void area_set(uint32_t value) {
    area = value % KEYS;
}
static uint32_t area_get() {
    return area;
}
static void written_set(uint32_t mask) {
    for (unsigned i = 0; i < KEYS; i++)
        written[i] = written[i] && (mask >> i & 1) == 0;
}
static void write_set(uint32_t mask) {
    write_area = mask;
}
static void text_set(uint32_t bytes) {
    text_bytes = bytes;
}
static void open_set(uint32_t bytes) {
    open_bytes = bytes;
}
static void in_set(uint32_t address) {
    address_in = address;
}
static void out_set(uint32_t address) {
    address_out = address;
}

// Starts the channel that reads.
static void in_bytes(uint32_t bytes) {
    if (selected == KEY_STORE) {
        for (unsigned i = 0; i < KEYS; i++)
            if ((write_area >> i & 1) != 0) {
                memcpy(keys[i], memory(address_in), 16);
                written[i] = true;
            }
        status |= 3;
    } else if ((control & CCM) != 0 && open_bytes != 0 && !is_open_done) {
        if (bytes != open_bytes || bytes > sizeof open)
            abort();
        memcpy(open, memory(address_in), bytes);
        is_open_done = true;
        status |= 2;
        if (text_bytes == 0)
            run(0);
    } else {
        if (bytes != text_bytes)
            abort();
        is_fed = true;
    }
}

static void out_bytes(uint32_t bytes) {
    if (is_fed && bytes == text_bytes)
        run(bytes);
}

template <unsigned I> static uint32_t tag_get() {
    return tag[I];
}
template <unsigned I> static void iv_set(uint32_t value) {
    iv[I] = value;
}

} // namespace ti_aes

#define TI_AES_PORT(name, get, set) static const chip::port name = {ti_aes::get, ti_aes::set}
TI_AES_PORT(CRYPTO_ALGSEL, zero, select);
TI_AES_PORT(CRYPTO_IRQSTAT, status_get, clear);
TI_AES_PORT(CRYPTO_IRQCLR, zero, clear);
TI_AES_PORT(CRYPTO_AESCTL, control_get, control_set);
TI_AES_PORT(CRYPTO_KEYREADAREA, area_get, area_set);
TI_AES_PORT(CRYPTO_KEYWRITTENAREA, zero, written_set);
TI_AES_PORT(CRYPTO_KEYWRITEAREA, zero, write_set);
TI_AES_PORT(CRYPTO_AESDATALEN0, zero, text_set);
TI_AES_PORT(CRYPTO_AESAUTHLEN, zero, open_set);
TI_AES_PORT(CRYPTO_DMACH0EXTADDR, zero, in_set);
TI_AES_PORT(CRYPTO_DMACH1EXTADDR, zero, out_set);
TI_AES_PORT(CRYPTO_DMACH0LEN, zero, in_bytes);
TI_AES_PORT(CRYPTO_DMACH1LEN, zero, out_bytes);
TI_AES_PORT(CRYPTO_AESIV0, zero, iv_set<0>);
TI_AES_PORT(CRYPTO_AESIV1, zero, iv_set<1>);
TI_AES_PORT(CRYPTO_AESIV2, zero, iv_set<2>);
TI_AES_PORT(CRYPTO_AESIV3, zero, iv_set<3>);
TI_AES_PORT(CRYPTO_AESTAGOUT0, tag_get<0>, clear);
TI_AES_PORT(CRYPTO_AESTAGOUT1, tag_get<1>, clear);
TI_AES_PORT(CRYPTO_AESTAGOUT2, tag_get<2>, clear);
TI_AES_PORT(CRYPTO_AESTAGOUT3, tag_get<3>, clear);
static uint32_t CRYPTO_DMACH0CTL, CRYPTO_DMACH1CTL, CRYPTO_AESDATALEN1, CRYPTO_IRQEN,
    CRYPTO_IRQTYPE;

// Sleeps until something happens, which is soon.
static void sleep_until_interrupt(uint8_t, uint32_t) {
    chip::spend(20000);
}
