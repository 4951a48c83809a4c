/* What each series of chips does in its own way; beside it are hal_serial_read and _write. */
#ifndef SERIES_H
#define SERIES_H

void start_clock(void);
void start_marker(void);
void start_serial(void);

#endif
