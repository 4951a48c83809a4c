/* A pin of a Linux board that is high during a window, for an external instrument. */
#ifndef HAL_HOST_MARKER_H
#define HAL_HOST_MARKER_H

#ifdef __cplusplus
extern "C" {
#endif

/* Takes the pin that JOULEMARK_MARKER names and drives it low: either `/dev/gpiochipN:LINE`,
   through Linux's character device, or a file to which `0` and `1` are written (a sysfs `value`, a
   terminal). Does nothing if the variable is not set. If the pin is not available, the process says
   why and exits. */
void marker_open(void);

/* Does nothing where no pin was taken. */
void marker_set(int level);

#ifdef __cplusplus
}
#endif

#endif
