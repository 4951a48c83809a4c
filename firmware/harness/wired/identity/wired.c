#include "wired.h"

void wired_nothing(const wired_ctx *ctx) {
    (void)ctx;
}
