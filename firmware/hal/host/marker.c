/* Version 2 of the GPIO interface (Linux, Documentation/userspace-api/gpio/chardev.rst). */
#include "marker.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/gpio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { NONE, LINE, TEXT };

static int file = -1, how = NONE;
static const char *name;

__attribute__((noreturn)) static void refuse(const char *what) {
    fprintf(stderr, "marker %s: %s: %s\n", name, what, strerror(errno));
    exit(EXIT_FAILURE);
}

static void take_line(const char *chip, const char *number) {
    char *end;
    unsigned long line = strtoul(number, &end, 10);
    struct gpio_v2_line_request asked;
    memset(&asked, 0, sizeof asked);
    if (end == number || *end != 0) {
        errno = EINVAL;
        refuse("a line is a number");
    }
    int device = open(chip, O_RDWR | O_CLOEXEC);
    if (device < 0)
        refuse("the chip cannot be opened");
    asked.offsets[0] = (unsigned)line;
    asked.num_lines = 1;
    asked.config.flags = GPIO_V2_LINE_FLAG_OUTPUT;
    strcpy(asked.consumer, "joulemark");
    if (ioctl(device, GPIO_V2_GET_LINE_IOCTL, &asked) < 0)
        refuse("the line cannot be had");
    close(device);
    file = asked.fd;
}

void marker_open(void) {
    static char chip[256];
    name = getenv("JOULEMARK_MARKER");
    if (name == NULL || *name == 0)
        return;
    const char *colon = strrchr(name, ':');
    if (colon != NULL && (size_t)(colon - name) < sizeof chip) {
        memcpy(chip, name, (size_t)(colon - name));
        take_line(chip, colon + 1);
        how = LINE;
        return;
    }
    file = open(name, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (file < 0)
        refuse("it cannot be opened");
    how = TEXT;
    marker_set(0);
}

void marker_set(int level) {
    if (how == LINE) {
        struct gpio_v2_line_values values = {.bits = level ? 1 : 0, .mask = 1};
        if (ioctl(file, GPIO_V2_LINE_SET_VALUES_IOCTL, &values) < 0)
            refuse("it cannot be set");
    } else if (how == TEXT) {
        if (write(file, level ? "1" : "0", 1) != 1)
            refuse("it cannot be set");
    }
}
