"""The PL011 UART of TI's chips, for the firmware's driver."""

_REGISTERS = ("DR", "FR", "IBRD", "FBRD", "LCRH", "CTL", "IMSC", "ICR")
PL011 = {
    "SERIAL_PL011": 1,
    **{f"SERIAL_{r}": f"UART0_{r}" for r in _REGISTERS},
}
