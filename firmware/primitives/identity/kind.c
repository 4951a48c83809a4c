/* The identity: its window has the cost common to all windows. */
#include "context.h"

static crypto_status step(void) {
    primitive_nothing(&primitive_context);
    return CRYPTO_OK;
}

const operation kind_operations[OPERATIONS] = {
    [OPERATION_NOTHING] = {nothing, step, show_nothing, false},
};
const uint8_t kind_operation_count = OPERATIONS;
