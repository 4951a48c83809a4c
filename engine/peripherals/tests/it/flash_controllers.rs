//! The flash controllers of the CC2538, the `CC26x0`, the STM32F1 and the STM32L4: sequences, times, and
//! named refusals.

use crate::memory::Memory;
use joulemark_kernel::chip::{Constant, Grade};
use joulemark_kernel::{Cycles, Fault, Memories};
use joulemark_peripherals::flash_cells::{FlashRange, FlashTimes};
use joulemark_peripherals::{Cc26x0Flash, Cc2538Flash, Stm32Flash, Stm32l4Flash};

const HZ: u32 = 1_000_000;

fn flash_of(range: &FlashRange) -> Memory {
    Memory {
        start: range.start,
        bytes: vec![0x00; range.size as usize],
        is_flash: true,
    }
}

fn word(memory: &Memory, address: u32) -> u32 {
    let bytes = memory.read(address, 4).unwrap();
    u32::from_le_bytes(bytes.try_into().unwrap())
}

fn constant(value: f64) -> Constant {
    Constant {
        value,
        source: "a test".into(),
        grade: Grade::Inferred,
    }
}

fn times() -> FlashTimes {
    FlashTimes {
        page_erase_s: constant(20e-3),
        word_write_s: constant(20e-6),
    }
}

const FCTL: u32 = 0x08;
const FADDR: u32 = 0x0c;
const FWDATA: u32 = 0x10;

fn cc2538() -> (Cc2538Flash, Memory) {
    let range = FlashRange {
        start: 0x20_0000,
        size: 0x8_0000,
        page: 2048,
    };
    let array = flash_of(&range);
    (Cc2538Flash::new(range, times(), HZ), array)
}

#[test]
fn cc2538_erases_a_page_and_writes_words() {
    let (mut flash, mut array) = cc2538();
    flash.write(FADDR, 0x20_0804, Cycles(0)).unwrap();
    assert_eq!(
        flash.read(FADDR),
        Some(0x201),
        "a word's number, from the start of flash"
    );
    flash.write(FCTL, 4 | 1, Cycles(0)).unwrap();
    assert_eq!(flash.read(FCTL), Some(0x80 | 4 | 1));
    assert_eq!(flash.power_state(), Some("flash-erase"));
    flash.transfer(&mut array, Cycles(19_999)).unwrap();
    assert_eq!(flash.read(FCTL), Some(0x80 | 4 | 1));
    flash.transfer(&mut array, Cycles(20_000)).unwrap();
    assert_eq!(flash.read(FCTL), Some(4));
    assert_eq!(flash.power_state(), None);
    assert_eq!(
        (word(&array, 0x20_0800), word(&array, 0x20_0ffc)),
        (u32::MAX, u32::MAX)
    );
    assert_eq!((word(&array, 0x20_07fc), word(&array, 0x20_1000)), (0, 0));

    flash.write(FCTL, 4 | 2, Cycles(30_000)).unwrap();
    for (number, word) in [0x1111_1111, 0x2222_2222].into_iter().enumerate() {
        let now = 30_000 + 20 * number as u64;
        flash.write(FWDATA, word, Cycles(now)).unwrap();
        assert_eq!(flash.read(FCTL), Some(0xc0 | 4 | 2), "full");
        flash.transfer(&mut array, Cycles(now + 20)).unwrap();
        assert_eq!(flash.read(FCTL), Some(0x80 | 4 | 2), "takes the next");
    }
    assert_eq!(
        (word(&array, 0x20_0804), word(&array, 0x20_0808)),
        (0x1111_1111, 0x2222_2222)
    );
    assert_eq!(word(&array, 0x20_0800), u32::MAX);
    assert_eq!(flash.next_event(), Cycles(30_060));
    flash.transfer(&mut array, Cycles(30_060)).unwrap();
    assert_eq!(flash.read(FCTL), Some(4), "no word came in time");
}

#[test]
fn cc2538_keeps_the_upper_page_unless_it_is_opened() {
    let (mut flash, mut array) = cc2538();
    flash.write(FADDR, 0x27_f800, Cycles(0)).unwrap();
    flash.write(FCTL, 1, Cycles(0)).unwrap();
    assert_eq!(flash.read(FCTL), Some(0x20), "aborted");
    flash.write(FCTL, 2, Cycles(0)).unwrap();
    flash.write(FWDATA, 0, Cycles(0)).unwrap();
    assert_eq!(flash.read(FCTL), Some(0x20));
    flash.write(FCTL, 0x201, Cycles(0)).unwrap();
    flash.transfer(&mut array, Cycles(20_000)).unwrap();
    assert_eq!(flash.read(FCTL), Some(0x200));
    assert_eq!(word(&array, 0x27_f800), u32::MAX);
}

#[test]
fn cc2538_refuses_by_name() {
    let (mut flash, mut array) = cc2538();
    let refused = |result: Result<bool, joulemark_kernel::Fault>| result.unwrap_err().to_string();
    assert!(refused(flash.write(FWDATA, 0, Cycles(0))).contains("outside of a write sequence"));
    assert!(refused(flash.write(FCTL, 0x101, Cycles(0))).contains("information page"));
    flash.write(FCTL, 2, Cycles(0)).unwrap();
    flash.write(FWDATA, 0, Cycles(19)).unwrap();
    assert!(refused(flash.write(FWDATA, 0, Cycles(20))).contains("FCTL.FULL"));
    flash.transfer(&mut array, Cycles(39)).unwrap();
    assert!(refused(flash.write(FWDATA, 0, Cycles(59))).contains("within the time of one"));
}

const FBPROT: u32 = 0x2030;
const FBSE: u32 = 0x2034;
const FMSTAT: u32 = 0x2054;
const ADDRESS: u32 = 0x2110;
const DATA: u32 = 0x2120;
const COMMAND: u32 = 0x220c;
const ENABLE: u32 = 0x2288;
const EXECUTE: u32 = 0x22b4;
const KEPT: u32 = 0x22c0;
const LOCKED: u32 = 0x22e0;

fn cc26x0() -> (Cc26x0Flash, Memory) {
    let range = FlashRange {
        start: 0,
        size: 0x2_0000,
        page: 4096,
    };
    let array = flash_of(&range);
    (Cc26x0Flash::new(range, times(), HZ), array)
}

fn put(flash: &mut Cc26x0Flash, now: u64, writes: &[(u32, u32)]) {
    for &(offset, value) in writes {
        assert!(
            flash.write(offset, value, Cycles(now)).unwrap(),
            "{offset:#x}"
        );
    }
}

const OPEN: [(u32, u32); 4] = [(FBPROT, 1), (FBSE, 0xffff), (FBPROT, 0), (ENABLE, 5)];

#[test]
fn cc26x0_erases_a_sector_and_programs_words() {
    let (mut flash, mut array) = cc26x0();
    put(&mut flash, 0, &OPEN);
    put(
        &mut flash,
        0,
        &[(KEPT, !(1 << 3)), (ADDRESS, 0x1f80_3008), (COMMAND, 6)],
    );
    put(&mut flash, 0, &[(EXECUTE, 0x15), (ENABLE, 2)]);
    assert_eq!(flash.read(FMSTAT), Some(0x180));
    flash.transfer(&mut array, Cycles(20_000)).unwrap();
    assert_eq!(flash.read(FMSTAT), Some(0));
    assert_eq!(
        (word(&array, 0x3000), word(&array, 0x3ffc)),
        (u32::MAX, u32::MAX)
    );
    assert_eq!((word(&array, 0x2ffc), word(&array, 0x4000)), (0, 0));

    put(
        &mut flash,
        20_000,
        &[(ENABLE, 5), (ADDRESS, 0x1f80_3010), (DATA + 4, 0x1234_5678)],
    );
    put(&mut flash, 20_000, &[(COMMAND, 2), (EXECUTE, 0x15)]);
    assert_eq!(flash.power_state(), Some("flash-write"));
    flash.transfer(&mut array, Cycles(20_020)).unwrap();
    assert_eq!(flash.power_state(), None, "8 us for 4 bytes; here 20");
    assert_eq!(
        (word(&array, 0x3010), word(&array, 0x3014)),
        (u32::MAX, 0x1234_5678)
    );
    assert_eq!(flash.read(DATA + 4), Some(u32::MAX));
}

#[test]
fn cc26x0_fails_where_a_sector_is_protected() {
    for (number, writes) in [
        vec![(ENABLE, 5), (KEPT, 0)],
        [&OPEN[..], &[(KEPT, 1 << 3)]].concat(),
        [&OPEN[..], &[(KEPT, 0), (LOCKED, 1 << 3), (LOCKED, 0)]].concat(),
    ]
    .into_iter()
    .enumerate()
    {
        let (mut flash, _) = cc26x0();
        put(&mut flash, 0, &writes);
        put(
            &mut flash,
            0,
            &[(ADDRESS, 0x1f80_3000), (COMMAND, 6), (EXECUTE, 0x15)],
        );
        assert_eq!(flash.read(FMSTAT), Some(0x10), "{number}");
        assert_eq!(flash.next_event(), Cycles::NEVER);
        put(&mut flash, 0, &[(COMMAND, 0x10), (EXECUTE, 0x15)]);
        assert_eq!(flash.read(FMSTAT), Some(0), "{number}");
    }
}

#[test]
fn cc26x2_has_a_second_word_of_sectors() {
    let range = FlashRange {
        start: 0,
        size: 0x5_8000,
        page: 8192,
    };
    let mut array = flash_of(&range);
    let mut flash = Cc26x0Flash::new(range, times(), HZ);
    // Sector 33, which sector 1's bit does not stand for.
    for (kept, is_erased) in [([!2, u32::MAX], false), ([u32::MAX, !2], true)] {
        put(&mut flash, 0, &OPEN);
        put(&mut flash, 0, &[(KEPT, kept[0]), (KEPT + 4, kept[1])]);
        put(
            &mut flash,
            0,
            &[(ADDRESS, 0x1f84_2000), (COMMAND, 6), (EXECUTE, 0x15)],
        );
        flash.transfer(&mut array, Cycles(20_000)).unwrap();
        assert_eq!(word(&array, 0x4_2000) == u32::MAX, is_erased);
        put(&mut flash, 20_000, &[(COMMAND, 0x10), (EXECUTE, 0x15)]);
    }
    assert_eq!((word(&array, 0x4_1ffc), word(&array, 0x4_4000)), (0, 0));
    put(&mut flash, 0, &[(LOCKED + 4, 2), (EXECUTE, 0x15)]);
    put(&mut flash, 0, &[(COMMAND, 6), (EXECUTE, 0x15)]);
    assert_eq!(flash.read(FMSTAT), Some(0x10), "locked");
}

#[test]
fn cc26x0_refuses_by_name() {
    let (mut flash, _) = cc26x0();
    let refused = |result: Result<bool, joulemark_kernel::Fault>| result.unwrap_err().to_string();
    assert!(refused(flash.write(COMMAND, 6, Cycles(0))).contains("FSM_WR_ENA"));
    assert!(refused(flash.write(FBSE, 1, Cycles(0))).contains("PROTL1DIS"));
    put(&mut flash, 0, &OPEN);
    put(&mut flash, 0, &[(COMMAND, 8)]);
    assert!(refused(flash.write(EXECUTE, 0x15, Cycles(0))).contains("command 0x08"));
    assert!(refused(flash.write(EXECUTE, 1, Cycles(0))).contains("0x15 only"));
    put(
        &mut flash,
        0,
        &[
            (KEPT, 0),
            (ADDRESS, 0x1f80_0000),
            (COMMAND, 6),
            (EXECUTE, 0x15),
        ],
    );
    assert!(refused(flash.write(ADDRESS, 0, Cycles(1))).contains("busy"));
    assert!(
        !flash
            .write(0x3000, 0, Cycles(1))
            .is_ok_and(|is_there| is_there)
    );
}

const STM32_KEYR: u32 = 0x04;
const STM32_SR: u32 = 0x0c;
const STM32_CR: u32 = 0x10;
const STM32_AR: u32 = 0x14;

fn stm32() -> (Stm32Flash, Memory) {
    let range = FlashRange {
        start: 0x0800_0000,
        size: 0x2_0000,
        page: 1024,
    };
    let array = flash_of(&range);
    let mut flash = Stm32Flash::new(range, times(), HZ);
    for key in [0x4567_0123, 0xcdef_89ab] {
        flash.write(STM32_KEYR, key, Cycles(0)).unwrap();
    }
    (flash, array)
}

#[test]
fn stm32_erases_a_page_and_programs_erased_half_words() {
    let (mut flash, mut array) = stm32();
    flash.write(STM32_CR, 2, Cycles(0)).unwrap();
    flash.write(STM32_AR, 0x0800_0404, Cycles(0)).unwrap();
    flash.write(STM32_CR, 0x42, Cycles(0)).unwrap();
    flash.transfer(&mut array, Cycles(19_999)).unwrap();
    assert_eq!(flash.read(STM32_SR), Some(1), "busy");
    flash.transfer(&mut array, Cycles(20_000)).unwrap();
    assert_eq!(flash.read(STM32_SR), Some(0x20), "done");
    assert_eq!(word(&array, 0x0800_0400), u32::MAX);
    assert_eq!(
        (word(&array, 0x0800_03fc), word(&array, 0x0800_0800)),
        (0, 0)
    );

    flash.write(STM32_SR, 0x20, Cycles(20_000)).unwrap();
    assert!(!flash.takes_stores());
    flash.write(STM32_CR, 1, Cycles(20_000)).unwrap();
    assert!(flash.takes_stores());
    let mut now = 20_000;
    let mut store = |address, value| {
        assert!(flash.store(address, value));
        assert!(!flash.store(address, value), "one at a time");
        flash.transfer(&mut array, Cycles(now)).unwrap();
        now += 10;
        flash.transfer(&mut array, Cycles(now)).unwrap();
        flash.read(STM32_SR)
    };
    assert_eq!(store(0x0800_0402, 0x1234), Some(0x20), "half a word's time");
    assert_eq!(
        store(0x0800_0402, 0x1230),
        Some(0x24),
        "refused: not erased"
    );
    assert_eq!(store(0x0800_0402, 0), Some(0x24), "0 goes everywhere");
    assert_eq!(word(&array, 0x0800_0400), 0x0000_ffff);
}

#[test]
fn stm32_refuses_by_name() {
    let (mut flash, _) = stm32();
    let refused = |result: Result<bool, joulemark_kernel::Fault>| result.unwrap_err().to_string();
    assert!(refused(flash.write(STM32_CR, 4, Cycles(0))).contains("mass erase"));
    assert!(refused(flash.write(STM32_CR, 0x40, Cycles(0))).contains("FLASH_CR.PER"));
    flash.write(STM32_CR, 0x80, Cycles(0)).unwrap();
    assert!(refused(flash.write(STM32_CR, 1, Cycles(0))).contains("FLASH_CR.LOCK"));
    assert!(refused(flash.write(STM32_KEYR, 1, Cycles(0))).contains("wrong key"));
}

const L4_KEYR: u32 = 0x08;
const L4_SR: u32 = 0x10;
const L4_CR: u32 = 0x14;
const L4_ECCR: u32 = 0x18;

/// Flash that notes which double words do not fit their code.
struct Checked {
    flash: Memory,
    torn: Vec<u32>,
}

impl Memories for Checked {
    fn read(&self, address: u32, length: u32) -> Option<Vec<u8>> {
        self.flash.read(address, length)
    }

    fn write(&mut self, _: u32, _: &[u8]) -> bool {
        false
    }

    fn write_flash(&mut self, address: u32, data: &[u8]) -> bool {
        let end = address + data.len() as u32;
        self.torn.retain(|at| !(address..end).contains(at));
        self.flash.write_flash(address, data)
    }

    fn tear(&mut self, address: u32) {
        self.torn.push(address);
    }
}

fn stm32l4() -> (Stm32l4Flash, Checked) {
    let range = FlashRange {
        start: 0x0800_0000,
        size: 0x20_0000,
        page: 4096,
    };
    let (flash, torn) = (flash_of(&range), Vec::new());
    let mut controller = Stm32l4Flash::new(range, times(), HZ);
    for key in [0x4567_0123, 0xcdef_89ab] {
        controller.write(L4_KEYR, key, Cycles(0)).unwrap();
    }
    (controller, Checked { flash, torn })
}

#[test]
fn stm32l4_erases_a_page_of_either_bank_and_programs_double_words_once() {
    let (mut flash, mut array) = stm32l4();
    let page = 0x0810_3000;
    flash
        .write(L4_CR, 2 | 0x103 << 3 | 1 << 16, Cycles(0))
        .unwrap();
    assert_eq!(flash.power_state(), Some("flash-erase"));
    flash.transfer(&mut array, Cycles(19_999)).unwrap();
    assert_eq!(flash.read(L4_SR), Some(1 << 16), "busy");
    flash.transfer(&mut array, Cycles(20_000)).unwrap();
    assert_eq!(flash.read(L4_SR), Some(1), "done");
    assert_eq!(word(&array.flash, page), u32::MAX);
    assert_eq!(word(&array.flash, page + 0xffc), u32::MAX);
    assert_eq!(word(&array.flash, page + 0x1000), 0);

    assert!(!flash.takes_stores());
    flash.write(L4_CR, 1, Cycles(20_000)).unwrap();
    let mut now = 20_000;
    let mut store = |low, high| {
        flash.write(L4_SR, 0xffff, Cycles(now)).unwrap();
        flash.store(page + 8, low).unwrap();
        assert_eq!(flash.next_event(), Cycles::NEVER, "one word does nothing");
        flash.store(page + 12, high).unwrap();
        flash.transfer(&mut array, Cycles(now)).unwrap();
        now += 40;
        flash.transfer(&mut array, Cycles(now)).unwrap();
        flash.read(L4_SR)
    };
    assert_eq!(store(1, 2), Some(1), "twice a word's time");
    assert_eq!(store(1, 0), Some(8), "refused: not erased");
    assert_eq!(store(0, 0), Some(1), "zeros go everywhere");
    assert_eq!(word(&array.flash, page + 12), 0);
    assert!(array.torn.is_empty());

    flash.store(page, 1).unwrap();
    assert!(flash.store(page, 1).is_err(), "not its other half");
    assert!(flash.store(page + 4, 1).is_err(), "the upper half first");
}

#[test]
fn stm32l4_wants_errors_cleared() {
    let (mut flash, mut array) = stm32l4();
    flash.write(L4_CR, 1, Cycles(0)).unwrap();
    for expected in [8, 8 | 0x80] {
        // Not erased, and then not cleared.
        flash.store(0x0800_0000, 1).unwrap();
        flash.store(0x0800_0004, 1).unwrap();
        flash.transfer(&mut array, Cycles(0)).unwrap();
        assert_eq!(flash.read(L4_SR), Some(expected));
    }
}

#[test]
fn stm32l4_reports_what_is_half_erased_when_it_is_read() {
    let (mut flash, mut array) = stm32l4();
    flash.write(L4_CR, 2 | 1 << 16, Cycles(0)).unwrap();
    flash.transfer(&mut array, Cycles(4_999)).unwrap();
    assert!(array.torn.is_empty(), "nothing has changed yet");
    flash.transfer(&mut array, Cycles(10_000)).unwrap();
    let torn = array.torn.len();
    assert!((300..500).contains(&torn), "{torn} of 512 double words");
    assert!(array.torn.iter().all(|at| at % 8 == 0));
    flash.transfer(&mut array, Cycles(20_000)).unwrap();
    assert!(array.torn.is_empty());

    flash.read_torn(0x0810_0048);
    flash.read_torn(0x0800_0010);
    let first = 1 << 31 | 1 << 21 | 0x48;
    assert_eq!(flash.read(L4_ECCR), Some(first), "in the second bank");
    assert!(flash.raises_nmi());
    flash.write(L4_ECCR, 0x48, Cycles(0)).unwrap();
    assert!(flash.raises_nmi());
    flash.write(L4_ECCR, 1 << 31, Cycles(0)).unwrap();
    assert!(!flash.raises_nmi());
}

#[test]
fn stm32l4_refuses_by_name() {
    let (mut flash, _) = stm32l4();
    let refused = |result: Result<bool, Fault>| result.unwrap_err().to_string();
    assert!(refused(flash.write(L4_CR, 4, Cycles(0))).contains("mass erase"));
    assert!(refused(flash.write(L4_CR, 1 << 16, Cycles(0))).contains("FLASH_CR.PER"));
    assert!(refused(flash.write(L4_ECCR, 1 << 24, Cycles(0))).contains("corrected errors"));
    flash.write(L4_CR, 1 << 31, Cycles(0)).unwrap();
    assert!(refused(flash.write(L4_CR, 1, Cycles(0))).contains("FLASH_CR.LOCK"));
    assert!(refused(flash.write(L4_KEYR, 1, Cycles(0))).contains("wrong key"));
}
