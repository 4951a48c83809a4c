"""Deep sleep of Cortex-M chips: what wakes them, how long waking takes, what stands still."""

from pathlib import Path

import pytest

from joulemark._engine import Image, Machine, Stop
from joulemark.catalogue import chips
from programs import elf, store

SLEEPDEEP = (0xE000ED10, 4)

# STM32F100 (RM0041).
RCC_CR, RCC_CFGR, RCC_BDCR = 0x40021000, 0x40021004, 0x40021020
PLL_24_MHZ = [(RCC_CR, 1 << 24 | 1), (RCC_CFGR, 4 << 18 | 2)]
PWR_CR, PWR_CSR = 0x40007000, 0x40007004
LPDS, PDDS, DBP, EWUP = 1, 1 << 1, 1 << 8, 1 << 8
EXTI_ALARM = [(0x40010400, 1 << 17), (0x40010408, 1 << 17)]
EXTI_ALARM_LINE = 41
TIM2, TIM2_CNT, TIM2_LINE = 0x40000000, 0x40000024, 28
RTC, RTC_HZ = 0x40002800, 32_768
ALARM_TICKS = 4 * 128
"""The alarm comes when the counter leaves 3; its clock is divided by 128."""

# CC26x0 (SWCU117).
VDCTL, PDCTL1, MCUWUSEL = 0x4008200C, 0x4008217C, 0x40093000
AON_RTC, AON_RTC_LINE = 0x40092000, 4
ULDO, MCU_VD = 1, 4
RTC_CH0, ANY_PAD, JTAG, NOTHING = 0x3F3F3F23, 0x3F3F203F, 0x2B3F3F3F, 0x3F3F3F3F
IOCFG0, BOTH_EDGES, EDGE_LINE = 0x40081000, 7 << 16, 0
GPT0, GPT_LINE = 0x40010000, 15
CC26 = {"cc2650": 151e-6, "cc2652r": 160e-6}
"""Wake-up times from standby in their files, in seconds."""
GPT_IN_10000_CYCLES = [(GPT0 + 0xC, 0), (GPT0 + 4, 1), (GPT0 + 0x28, 10_000), (GPT0 + 0x18, 1)]
CHANNEL_0_AFTER_10_MS = [(AON_RTC + 0x18, 655), (AON_RTC + 0x14, 1), (AON_RTC, 1 << 16 | 1)]
STANDBY = [(PDCTL1, 0), (VDCTL, ULDO)]


def line(number: int) -> tuple[int, int]:
    """Return the setting that enables an interrupt line."""
    return 0xE000E100 + number // 32 * 4, 1 << number % 32


def alarm(mode: int) -> list[tuple[int, int]]:
    """Return settings of the STM32F100's real-time clock on its crystal, and a mode of PWR_CR."""
    settings = [(0x4, 0x10), (0xC, 127), (0x20, 0), (0x24, 3), (0x4, 0)]
    clock = [(PWR_CR, DBP | mode), (RCC_BDCR, 0x8101)]
    return [*clock, *((RTC + offset, value) for offset, value in settings)]


class Sleeper:
    """A machine that makes some settings and enters deep sleep."""

    def __init__(
        self, folder: Path, chip: str, settings: list[tuple[int, int]], handler: str = "nop"
    ) -> None:
        code = "".join(store(*setting) for setting in [*settings, SLEEPDEEP])
        handler = f"{handler}\n handled: b handled"
        self.image = Image.load(elf(folder, chip, f"{code} wfi\n 1: b 1b", handler))
        self.machine = Machine(chips.load_chip(chip), self.image, trace=True)

    def run(self) -> Stop:
        """Run until it is in the handler of what wakes it."""
        return self.machine.run(until=self.image.resolve("handled"), max_cycles=600_000)

    def states(self) -> list[str]:
        return [interval.state for interval in self.machine.power_tracks["mcu"]]

    def waking_s(self) -> float:
        """Return the time since it left its sleep."""
        return (self.machine.time_ps - self.machine.power_tracks["mcu"][-1].start_ps) / 1e12


@pytest.mark.parametrize(
    ("mode", "state", "waking_s"), [(LPDS, "stop", 5.4e-6), (0, "stop-regulator-on", 3.6e-6)]
)
def test_the_alarm_wakes_from_stop(tmp_path: Path, mode: int, state: str, waking_s: float) -> None:
    timer = [(TIM2 + 0x2C, 0xFFFF), (TIM2, 1)]
    settings = [*PLL_24_MHZ, *alarm(mode), *EXTI_ALARM, line(EXTI_ALARM_LINE), *timer]
    read_timer = f"ldr r0, ={TIM2_CNT:#x}\n ldr r2, [r0]"
    sleeper = Sleeper(tmp_path, "stm32f100rb", settings, read_timer)
    assert sleeper.run().reason == "address"
    registers = sleeper.machine.registers
    assert registers["xpsr"] & 0x1FF == 16 + EXTI_ALARM_LINE
    assert registers["r2"] < 200, "the timer stands still while it sleeps"
    assert sleeper.machine.clock_hz == 8_000_000, "it goes on with the internal oscillator"
    *_, before, stopped, after = sleeper.machine.power_tracks["mcu"]
    assert [before.state, stopped.state, after.state] == ["active", state, "active"]
    assert before.clock_hz == 24_000_000
    slept_s = (stopped.end_ps - stopped.start_ps) / 1e12
    assert slept_s == pytest.approx(ALARM_TICKS / RTC_HZ, abs=40e-6)
    # Besides the time to wake: exception entry and the handler's first instructions.
    assert waking_s + 1e-6 < sleeper.waking_s() < waking_s + 4e-6


def test_a_timer_does_not_wake_from_stop(tmp_path: Path) -> None:
    timer = [(TIM2 + 0x2C, 99), (TIM2 + 0xC, 1), (TIM2, 1)]
    settings = [(PWR_CR, LPDS), *timer, line(TIM2_LINE)]
    sleeper = Sleeper(tmp_path, "stm32f100rb", settings)
    assert sleeper.run().reason == "cycles"
    assert sleeper.states() == ["active", "stop"]


def test_a_pin_wakes_from_stop(tmp_path: Path) -> None:
    settings = [(PWR_CR, LPDS), (0x40010400, 1), (0x40010408, 1), line(6)]
    sleeper = Sleeper(tmp_path, "stm32f100rb", settings)
    assert sleeper.run().reason == "cycles"
    sleeper.machine.set_pin("PA0", True)
    assert sleeper.run().reason == "address"
    assert sleeper.states() == ["active", "stop", "active"]


@pytest.mark.parametrize("by", ["alarm", "pin"])
def test_what_wakes_from_standby_resets_the_chip(tmp_path: Path, by: str) -> None:
    settings = alarm(PDDS) if by == "alarm" else [(PWR_CR, PDDS), (PWR_CSR, EWUP)]
    sleeper = Sleeper(tmp_path, "stm32f100rb", settings)
    stop = sleeper.run()
    if by == "pin":
        assert stop.reason == "cycles"
        sleeper.machine.set_pin("PA0", True)
        stop = sleeper.run()
    assert stop.fault is not None
    source = {"alarm": "the real-time clock's alarm", "pin": "the pin WKUP (PA0)"}[by]
    assert f"wakes from Standby by {source}: a reset" in stop.fault.message
    assert "standby" in sleeper.states()


def test_a_byte_that_stop_would_cut_off_is_told(tmp_path: Path) -> None:
    usart = [(0x40013808, 69), (0x4001380C, 0x2008), (0x40013804, 0x55)]
    stop = Sleeper(tmp_path, "stm32f100rb", [(PWR_CR, LPDS), *usart]).run()
    assert stop.fault is not None
    assert "USART is sending when Stop or Standby mode begins" in stop.fault.message


@pytest.mark.parametrize("chip", CC26)
def test_the_real_time_clock_wakes_from_standby(tmp_path: Path, chip: str) -> None:
    settings = [*STANDBY, (MCUWUSEL, RTC_CH0), *CHANNEL_0_AFTER_10_MS, line(AON_RTC_LINE)]
    # A timer in the core's domain does not: it has no clock in standby.
    sleeper = Sleeper(tmp_path, chip, [*settings, *GPT_IN_10000_CYCLES, (GPT0 + 0xC, 1)])
    assert sleeper.run().reason == "address"
    assert sleeper.machine.registers["xpsr"] & 0x1FF == 16 + AON_RTC_LINE
    assert sleeper.states() == ["active", "standby", "active"]
    _, standby, _ = sleeper.machine.power_tracks["mcu"]
    assert (standby.end_ps - standby.start_ps) / 1e12 == pytest.approx(10e-3, abs=60e-6)
    assert CC26[chip] < sleeper.waking_s() < CC26[chip] + 2e-6


@pytest.mark.parametrize("chip", CC26)
def test_a_pin_wakes_from_standby(tmp_path: Path, chip: str) -> None:
    settings = [*STANDBY, (MCUWUSEL, ANY_PAD), (IOCFG0, BOTH_EDGES), line(EDGE_LINE)]
    sleeper = Sleeper(tmp_path, chip, settings)
    assert sleeper.run().reason == "cycles"
    sleeper.machine.set_pin("DIO0", True)
    assert sleeper.run().reason == "address"
    assert sleeper.states() == ["active", "standby", "active"]


@pytest.mark.parametrize(
    "settings",
    [
        [(VDCTL, ULDO)],
        [(PDCTL1, 0)],
        [*STANDBY, (0x40082044, 1), (0x40082028, 1)],
    ],
    ids=["CPU and VIMS are on", "nothing asks for it", "the AES accelerator has its clock"],
)
def test_without_what_standby_needs_the_core_is_idle(
    tmp_path: Path, settings: list[tuple[int, int]]
) -> None:
    timer = [*GPT_IN_10000_CYCLES, line(GPT_LINE), (GPT0 + 0xC, 1)]
    sleeper = Sleeper(tmp_path, "cc2650", [*settings, *timer])
    assert sleeper.run().reason == "address"
    assert sleeper.states() == ["active", "idle", "active"]


def test_what_does_not_wake_the_domain_does_not_wake_the_core(tmp_path: Path) -> None:
    settings = [*STANDBY, (MCUWUSEL, NOTHING), *CHANNEL_0_AFTER_10_MS, line(AON_RTC_LINE)]
    sleeper = Sleeper(tmp_path, "cc2650", settings)
    assert sleeper.run().reason == "cycles"
    assert sleeper.states() == ["active", "standby"]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ([(PDCTL1, 0), (VDCTL, MCU_VD)], "turning the core's domain off (PRCM.VDCTL.MCU_VD)"),
        ([*STANDBY, (MCUWUSEL, JTAG)], "waking from standby by event 0x2b"),
    ],
)
def test_what_is_left_out_of_deep_sleep_is_told(
    tmp_path: Path, settings: list[tuple[int, int]], said: str
) -> None:
    stop = Sleeper(tmp_path, "cc2650", settings).run()
    assert stop.fault is not None
    assert said in stop.fault.message
