#include "hal.h"
#include "harness.h"

int main(void) {
    hal_init();
    for (;;)
        harness_receive(hal_serial_read());
}
