/* The PrimeCell UART of TI's chips (ARM DDI 0183). */
#ifndef PL011_H
#define PL011_H

void pl011_start(void);

#endif
