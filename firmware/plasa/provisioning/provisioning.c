#include "provisioning.h"

static const uint8_t secrets[PROVISIONED_BYTES - 2] = {0x50, 0x4c, 0x41, 0x53, 0x41, 0x20, 0x74,
                                                       0x65, 0x73, 0x74, 0x20, 0x6b, 0x65, 0x79};
static const uint8_t seed[PROVISIONED_BYTES] = {0x73,
                                                0x65,
                                                0x65,
                                                0x64,
                                                0x20,
                                                0x6f,
                                                0x66,
                                                0x20,
                                                0x61,
                                                0x20,
                                                0x6d,
                                                0x6f,
                                                0x74,
                                                0x65,
                                                (uint8_t)PLASA_MOTE,
                                                (uint8_t)(PLASA_MOTE >> 8)};

const uint8_t provisioned_manager[PROVISIONED_EUI_BYTES] = {1, 0, 0, 0, 0, 0x4d, 0x4a, 2};

uint16_t provisioned_address(void) {
    return PLASA_MOTE;
}

void provisioned_secret(uint16_t address, uint8_t secret[PROVISIONED_BYTES]) {
    for (uint8_t i = 0; i < sizeof secrets; i++)
        secret[i] = secrets[i];
    secret[sizeof secrets] = (uint8_t)address;
    secret[sizeof secrets + 1] = (uint8_t)(address >> 8);
}

const uint8_t *provisioned_seed(void) {
    return seed;
}
