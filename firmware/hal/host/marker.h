/* A pin of a Linux board that is high while a window lasts, for an instrument beside it. */
#ifndef HAL_HOST_MARKER_H
#define HAL_HOST_MARKER_H

#ifdef __cplusplus
extern "C" {
#endif

/* Takes the pin that JOULEMARK_MARKER names, low: `/dev/gpiochipN:LINE` by Linux's character
   device, or a file that `0` and `1` are written to (a `value` of sysfs, a terminal). Nothing where
   it names none. The process ends, and says why, where the pin cannot be had. */
void marker_open(void);

/* Nothing where no pin was taken. */
void marker_set(int level);

#ifdef __cplusplus
}
#endif

#endif
