#include "counters.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_counter(uint64_t event, int process, int group) {
    struct perf_event_attr what = {
        .type = PERF_TYPE_HARDWARE,
        .size = sizeof what,
        .config = event,
        .exclude_kernel = 1,
        .exclude_hv = 1,
        .disabled = group < 0,
    };
    return (int)syscall(SYS_perf_event_open, &what, process, -1, group, PERF_FLAG_FD_CLOEXEC);
}

int counters_open(counters *made, int process) {
    made->cycles = open_counter(PERF_COUNT_HW_CPU_CYCLES, process, -1);
    if (made->cycles < 0)
        return errno;
    made->instructions = open_counter(PERF_COUNT_HW_INSTRUCTIONS, process, made->cycles);
    return made->instructions < 0 ? errno : 0;
}

void counters_start(const counters *which) {
    ioctl(which->cycles, PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
    ioctl(which->cycles, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
}

int counters_stop(const counters *which, uint64_t *cycles, uint64_t *instructions) {
    ioctl(which->cycles, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
    if (read(which->cycles, cycles, sizeof *cycles) != sizeof *cycles ||
        read(which->instructions, instructions, sizeof *instructions) != sizeof *instructions)
        return errno == 0 ? EIO : errno;
    return 0;
}
