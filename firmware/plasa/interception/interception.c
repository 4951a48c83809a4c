/* Inserts the architecture between an application and the stack. The application calls the stack
   under its usual names, and its code is identical with and without the architecture: the linker
   redirects its calls to this file. Modules that are not part of the program are left out. */
#include <string.h>

#include "csma.h"

#if __has_include("authentication.h")
#include "authentication.h"
#include "keydb.h"
#define HAS_AUTHENTICATION 1
#else
#define HAS_AUTHENTICATION 0
#endif
#if __has_include("client.h")
#include "client.h"
#define HAS_CLIENT 1
#else
#define HAS_CLIENT 0
#endif
#if __has_include("recovery.h")
#include "recovery.h"
#define HAS_RECOVERY 1
#else
#define HAS_RECOVERY 0
#endif
#if __has_include("star.h")
#include "keydb.h"
#include "star.h"
#define HAS_STAR 1
#else
#define HAS_STAR 0
#endif
#if __has_include("reconfiguration.h")
#include "reconfiguration.h"
#define HAS_RECONFIGURATION 1
#else
#define HAS_RECONFIGURATION 0
#endif

bool __real_csma_init(uint8_t channel, uint16_t pan, uint16_t address);
csma_status __real_csma_send(uint16_t to, const uint8_t *payload, uint8_t length);
bool __real_csma_receive(radio_time until, csma_message *message);

bool __wrap_csma_init(uint8_t channel, uint16_t pan, uint16_t address);
csma_status __wrap_csma_send(uint16_t to, const uint8_t *payload, uint8_t length);
bool __wrap_csma_receive(radio_time until, csma_message *message);

#if HAS_AUTHENTICATION
enum { ATTEMPTS = 5, ANSWER_TICKS = RADIO_TICK_HZ / 4 };

static bool join(void) {
    csma_message message;
    for (uint8_t attempt = 0; attempt < ATTEMPTS; attempt++) {
        uint8_t hello[HELLO_BYTES], confirmation[CONFIRMATION_BYTES];
        uint32_t epoch;
        authentication_hello(hello);
        radio_time until = (radio_time)(radio_now() + ANSWER_TICKS);
        if (__real_csma_send(PLASA_AUTHORITY, hello, sizeof hello) != CSMA_OK)
            continue;
        while (__real_csma_receive(until, &message))
            if (authentication_challenge(message.from, message.payload, message.length,
                                         confirmation, &epoch)) {
#if HAS_CLIENT
                client_start(epoch);
#endif
#if HAS_RECOVERY
                recovery_start(epoch);
#endif
                return __real_csma_send(message.from, confirmation, sizeof confirmation) == CSMA_OK;
            }
    }
    return false;
}

/* An authority that has restarted has lost its keys and cannot announce this authentically. As each
   renewal changes the KEK, a mote whose KEK has not changed for long asks to be admitted again. If
   it gets no answer, it keeps its keys. */
static void join_if_forgotten(void) {
    static uint16_t sent;
    static uint8_t begin[2];
    if (PLASA_PATIENCE == 0 || ++sent <= PLASA_PATIENCE)
        return;
    sent = 0;
    const uint8_t *kek = keydb_get(KEY_GROUP, KEYDB_GROUP | KEYDB_KEK);
    if (kek == 0 || memcmp(begin, kek, sizeof begin) == 0)
        join();
    else
        memcpy(begin, kek, sizeof begin);
}
#endif

bool __wrap_csma_init(uint8_t channel, uint16_t pan, uint16_t address) {
    bool is_up = __real_csma_init(channel, pan, address);
#if HAS_AUTHENTICATION
    is_up = is_up && join();
#endif
#if HAS_STAR && defined PLASA_POLICY
    /* The initial policy. Nothing is sent until there is a key. */
    is_up = is_up && star_change(0, PLASA_POLICY, KEY_DATA);
#endif
    return is_up;
}

#if HAS_RECOVERY && HAS_STAR
/* Requests the data key, if the mote has missed it. */
static void recover(void) {
    uint8_t request[REQUEST_BYTES];
    if (keydb_get(KEY_DATA, KEYDB_GROUP) == 0 && recovery_request(KEY_DATA, request))
        __real_csma_send(PLASA_AUTHORITY, request, sizeof request);
}
#endif

csma_status __wrap_csma_send(uint16_t to, const uint8_t *payload, uint8_t length) {
#if HAS_AUTHENTICATION
    join_if_forgotten();
#endif
#if HAS_STAR
    uint8_t packet[CSMA_PAYLOAD_BYTES_MAX];
    length = star_secure(to, payload, length, packet, sizeof packet);
    if (length == 0) {
#if HAS_RECOVERY
        recover();
#endif
        return CSMA_REFUSED;
    }
    return __real_csma_send(to, packet, length);
#else
    return __real_csma_send(to, payload, length);
#endif
}

/* Handles a message of the architecture itself, which the application must not see. */
static bool take(csma_message *message) {
#if HAS_CLIENT
    if (client_renewal(message->payload, message->length))
        return true;
#endif
#if HAS_RECOVERY
    if (recovery_answer(message->payload, message->length))
        return true;
#endif
#if HAS_RECONFIGURATION
    if (reconfiguration_take(message->payload, message->length))
        return true;
#endif
    (void)message;
    return false;
}

bool __wrap_csma_receive(radio_time until, csma_message *message) {
    while (__real_csma_receive(until, message)) {
        if (take(message))
            continue;
#if HAS_STAR
        if (!star_unsecure(message->from, message->to, message->payload, &message->length))
            continue;
#endif
        return true;
    }
    return false;
}
