/* The PrimeCell UART (ARM DDI 0183) of TI's chips. */
#ifndef PL011_H
#define PL011_H

void pl011_start(void);

#endif
