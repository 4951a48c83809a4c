/* The primitive's context. It is the primitive's cost in RAM, so it has a symbol of its own; the
   copy that the harness keeps of it is not. Included once, by a kind's file. */
#include "harness.h"
#include "kind.h"
#include "noinit.h"
#include "primitive.h"

primitive_ctx primitive_context;
static HAL_NOINIT primitive_ctx saved_context;

void *const kind_context = &primitive_context;
void *const kind_saved_context = &saved_context;
const uint16_t kind_context_bytes = sizeof(primitive_ctx);

#ifdef KIND_HAS_MESSAGE_AND_OUTPUT
static inline void show_message_length(void) {
    slots[SLOT_OUTPUT].length = slots[SLOT_MESSAGE].length;
}
#endif
