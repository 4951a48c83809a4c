//! A device on the SPI bus of a USART: selected by a pin, exchanging bytes at the line's speed.

mod common;

use std::sync::{Arc, Mutex};

use joulemark_kernel::Cycles;
use joulemark_machine::msp430::Msp430;
use joulemark_machine::msp430x1xx::Pin;
use joulemark_machine::{Options, Reason};
use joulemark_peripherals::SpiDevice;

/// What the device saw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    Select(bool),
    Byte(u8),
}

/// Answers each byte with the byte before it, plus one.
struct Delay {
    last: u8,
    seen: Arc<Mutex<Vec<(u64, Event)>>>,
}

impl SpiDevice for Delay {
    fn select(&mut self, selected: bool, now: Cycles) {
        self.seen
            .lock()
            .expect("one thread")
            .push((now.0, Event::Select(selected)));
    }

    fn exchange(&mut self, byte: u8, now: Cycles) -> u8 {
        self.seen
            .lock()
            .expect("one thread")
            .push((now.0, Event::Byte(byte)));
        std::mem::replace(&mut self.last, byte).wrapping_add(1)
    }
}

#[test]
fn bytes_are_exchanged_with_the_device_that_is_selected() {
    // USART0 as SPI master, SMCLK / 4, 8 bits; P4.2 selects, as the radio of a TelosB.
    let image = common::image(
        "
start:
    mov #0x3900, r1
    mov #0x5a80, &WDTCTL
    bis.b #4, &P4OUT
    bis.b #4, &P4DIR
    mov.b #0x17, &U0CTL
    mov.b #0xa2, &U0TCTL
    mov.b #4, &U0BR0
    clr.b &U0BR1
    clr.b &U0MCTL
    bis.b #0x40, &ME1
    bic.b #1, &U0CTL
    mov #answers, r10
    mov #0x10, r11
    bic.b #4, &P4OUT
again:
    mov.b r11, &U0TXBUF
wait:
    bit.b #0x40, &IFG1
    jz wait
    mov.b &U0RXBUF, 0(r10)
    inc r10
    inc r11
    cmp #0x14, r11
    jnz again
    bis.b #4, &P4OUT
done:
    jmp done
    .bss
answers: .space 4
",
    );
    let mut machine = Msp430::new(&common::chip(), &image, &Options::default()).expect("it fits");
    let seen = Arc::new(Mutex::new(Vec::new()));
    let device = Delay {
        last: 0xff,
        seen: Arc::clone(&seen),
    };
    machine.attach(0, Pin::parse("P4.2").expect("a pin"), Box::new(device));
    common::run_to(&mut machine, &image, "done");
    assert_eq!(common::run_for(&mut machine, 100).reason, Reason::Cycles);
    let answers = [0, 1].map(|index| common::word(&machine, &image, "answers", index));
    assert_eq!(answers, [0x1100, 0x1312]);
    let seen = seen.lock().expect("one thread");
    let events: Vec<Event> = seen.iter().map(|&(_, event)| event).collect();
    let bytes = [0x10, 0x11, 0x12, 0x13].map(Event::Byte);
    // It was deselected while the program set up its pins.
    assert_eq!(events[0], Event::Select(false));
    assert_eq!(events[1], Event::Select(true));
    assert_eq!(events[2..6], bytes);
    assert_eq!(events[6..], [Event::Select(false)]);
    // Eight bits of four cycles pass before the first byte is there.
    assert!(seen[2].0 - seen[1].0 >= 32 && seen[2].0 - seen[1].0 < 45);
}
