/* The primitive's context. It counts as the primitive's RAM, so it has its own symbol; the copy
   that the harness saves does not count. Include this once, in the kind's kind.c. */
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
