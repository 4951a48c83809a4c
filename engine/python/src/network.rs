//! Networks of machines.

use std::collections::BTreeMap;

use joulemark_devices::ds2411::Ds2411;
use joulemark_devices::m25p80::M25p80;
use joulemark_kernel::trace::PowerTrack;
use joulemark_kernel::{Chip as KernelChip, Picoseconds};
use joulemark_machine::{Machine, Options};
use joulemark_network as network;
use joulemark_network::{Board, Clock, Crystal, Mote, Seated};
use joulemark_radio::Start;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use super::phy::Phy;
use super::{
    Chip, EngineError, Image, MarkerEdge, PowerInterval, Profile, Settings, Stop, Surroundings,
    Wiring, counting, machine_error, made, numbers, signals,
};

/// A transmission's reception at a mote.
#[pyclass(frozen, get_all, module = "joulemark._engine")]
#[derive(Clone)]
pub struct Hearing {
    mote: usize,
    power_dbm: f64,
    outcome: Option<&'static str>,
}

/// A transmission, in the network's time.
#[pyclass(frozen, get_all, module = "joulemark._engine")]
pub struct Transmission {
    mote: usize,
    number: u32,
    phy: Phy,
    begin_ps: u64,
    delimiter_ps: u64,
    end_ps: u64,
    frequency_mhz: u16,
    power_dbm: f64,
    sync: u32,
    frame: Py<PyBytes>,
    is_cut: bool,
    hearings: Vec<Hearing>,
}

/// Power states of all motes over a time, which are made Python's when they are looked at.
#[pyclass(frozen, module = "joulemark._engine")]
pub struct PowerTracks {
    motes: Vec<(Vec<PowerTrack>, Clock)>,
}

#[pymethods]
impl PowerTracks {
    fn __len__(&self) -> usize {
        self.motes.len()
    }

    fn __getitem__(&self, mote: usize) -> PyResult<BTreeMap<String, Vec<PowerInterval>>> {
        let (tracks, clock) = self.motes.get(mote).ok_or_else(|| {
            let count = self.motes.len();
            PyIndexError::new_err(format!("no mote {mote}; there are {count}"))
        })?;
        Ok(intervals(tracks, *clock))
    }
}

/// Power states in the network's time, by part.
fn intervals(tracks: &[PowerTrack], clock: Clock) -> BTreeMap<String, Vec<PowerInterval>> {
    let tracks = tracks.iter().map(|track| {
        let intervals = track.intervals.iter().map(|interval| PowerInterval {
            state: interval.state,
            clock_hz: interval.clock_hz,
            start_ps: clock.global(interval.start).0,
            end_ps: clock.global(interval.end).0,
        });
        (track.part.clone(), intervals.collect())
    });
    tracks.collect()
}

/// Time by part of the board, and there by power state and clock.
type Times = BTreeMap<String, BTreeMap<(&'static str, u32), u64>>;

/// What a mote has sent on a port: bytes with their times.
type Sent = (usize, &'static str, Vec<(u8, u64)>);

/// Machines that hear each other.
#[pyclass(module = "joulemark._engine")]
#[allow(
    clippy::struct_field_names,
    reason = "it wraps the engine's own network"
)]
pub struct Network {
    network: network::Network<Seated>,
    count: usize,
    /// Of each mote, as far as its power states were taken.
    times: Vec<Times>,
}

/// Give each mote's DS2411, if its board has one, its own number: the requested one, or numbers
/// from 1 on. Operating systems derive addresses from it.
fn give_serial(machine: &mut Machine, mote: usize, asked: Option<u64>) -> PyResult<()> {
    let number = asked.unwrap_or(mote as u64 + 1);
    let give = |device: &mut Ds2411, _: &mut _| device.set_serial(number);
    match machine.with_device("serial-number", give) {
        // Without a request, a board need not have one.
        Err(_) if asked.is_some() => Err(EngineError::new_err(
            "device_number: neither this chip nor its board has a number of its own",
        )),
        _ => Ok(()),
    }
}

/// Put a requested number into the chip's setting if it has one; otherwise return it for the board.
fn number_of(
    chip: &KernelChip,
    settings: &mut BTreeMap<String, u32>,
    asked: Option<u64>,
) -> PyResult<Option<u64>> {
    let (Some(number), Some(_)) = (asked, chip.settings.get(DEVICE_NUMBER)) else {
        return Ok(asked);
    };
    let number = u32::try_from(number).map_err(|_| {
        EngineError::new_err(format!(
            "device_number: {number} does not fit the 32 bits that {} has for it",
            chip.name
        ))
    })?;
    settings.insert(DEVICE_NUMBER.into(), number);
    Ok(None)
}

/// A board's serial flash.
const FLASH: &str = "flash";

/// Settings that distinguish chips of a kind: the number, and the seeds of random bits.
const DEVICE_NUMBER: &str = "device_number";
const OF_ONE_CHIP: [&str; 3] = [DEVICE_NUMBER, "random_seed", "trng_seed"];

/// Complete a mote's settings: unless requested otherwise, each chip of a network is a different
/// one, whose settings are the defaults plus the mote's index.
fn settings_of(
    chip: &KernelChip,
    mote: usize,
    mut asked: BTreeMap<String, u32>,
) -> BTreeMap<String, u32> {
    for name in OF_ONE_CHIP {
        if let Some(setting) = chip.settings.get(name) {
            let own = setting.default.wrapping_add(mote as u32);
            asked.entry(name.to_owned()).or_insert(own);
        }
    }
    asked
}

impl Network {
    fn check(&self, mote: usize) -> PyResult<()> {
        if mote < self.count {
            return Ok(());
        }
        let count = self.count;
        Err(EngineError::new_err(format!(
            "no mote {mote}; there are {count}"
        )))
    }

    fn board(&mut self, mote: usize) -> PyResult<&mut Board> {
        self.check(mote)?;
        let seated = self.network.mote_mut(mote).board();
        seated.ok_or_else(|| EngineError::new_err(format!("mote {mote} is a recording")))
    }
}

#[pymethods]
impl Network {
    #[new]
    #[pyo3(signature = (*, seed=0, threads=1, look_ahead_part=None))]
    fn new(seed: u64, threads: usize, look_ahead_part: Option<u64>) -> PyResult<Self> {
        let ahead = match look_ahead_part {
            None => network::Ahead::Full,
            Some(part) if (1..=64).contains(&part) => network::Ahead::Part(part),
            Some(part) => {
                let what = format!("look_ahead_part: {part} is not from 1 to 64");
                return Err(EngineError::new_err(what));
            }
        };
        let network = network::Network::new(seed, threads, ahead).map_err(EngineError::new_err)?;
        Ok(Self {
            network,
            count: 0,
            times: Vec::new(),
        })
    }

    #[pyo3(signature = (chip, image, *, wiring=None, start_ps=0, ppb=0, drift_ppb_per_hour=0,
                        watch=None, trace=false, marker=None, profile=false, settings=None, flash=None,
                        device_number=None, surroundings=None))]
    #[allow(clippy::too_many_arguments)]
    fn add(
        &mut self,
        chip: &Chip,
        image: &Image,
        wiring: Option<&Wiring>,
        start_ps: u64,
        ppb: i32,
        drift_ppb_per_hour: i32,
        watch: Option<(i32, i32)>,
        trace: bool,
        marker: Option<String>,
        profile: bool,
        settings: Option<Settings<'_>>,
        flash: Option<&[u8]>,
        device_number: Option<u64>,
        surroundings: Option<Surroundings>,
    ) -> PyResult<usize> {
        let mut asked = numbers(settings)?;
        let serial = number_of(&chip.chip, &mut asked, device_number)?;
        let options = Options {
            trace,
            marker,
            profile: counting(profile),
            settings: settings_of(&chip.chip, self.count, asked),
            surroundings: signals(surroundings)?,
            resets: u32::MAX,
            ..Options::default()
        };
        let mut machine = made(chip, wiring, image, &options)?;
        give_serial(&mut machine, self.count, serial)?;
        if let Some(flash) = flash {
            machine
                .with_device(FLASH, |device: &mut M25p80, _| device.load(flash))
                .map_err(machine_error)?;
        }
        let crystal = Crystal {
            ppb,
            drift_ppb_per_hour,
        };
        let watch = watch.map_or(crystal, |(ppb, drift_ppb_per_hour)| Crystal {
            ppb,
            drift_ppb_per_hour,
        });
        let clock = Clock {
            start: Picoseconds(start_ps),
            crystal,
        };
        self.count += 1;
        let board = Board::new(machine, crystal, watch);
        Ok(self.network.add(Seated::Board(Box::new(board)), clock))
    }

    fn add_recording(&mut self) -> usize {
        self.count += 1;
        let recording = Seated::Recording(Picoseconds(0));
        self.network.add(recording, Clock::default())
    }

    #[pyo3(signature = (sender, receiver, *, attenuation_db, loss=0.0))]
    fn link(
        &mut self,
        sender: usize,
        receiver: usize,
        attenuation_db: f64,
        loss: f64,
    ) -> PyResult<()> {
        self.check(sender)?;
        self.check(receiver)?;
        let link = network::Link {
            to: receiver,
            attenuation_db,
            loss,
        };
        self.network.link(sender, link);
        Ok(())
    }

    fn inject(
        &mut self,
        sender: usize,
        phy: &Phy,
        begin_ps: u64,
        frequency_mhz: u16,
        power_dbm: f64,
        frame: &[u8],
    ) -> PyResult<()> {
        self.check(sender)?;
        let phy = phy.phy;
        let begin = Picoseconds(begin_ps);
        let soonest = self.network.time() + Picoseconds(1_000_000_000);
        if begin < soonest {
            return Err(EngineError::new_err(format!(
                "cannot send at {} ps; the soonest is {} ps",
                begin.0, soonest.0
            )));
        }
        let start = Start::of_frame(phy, begin, frequency_mhz, power_dbm);
        let bytes = phy.sent(frame).map_err(EngineError::new_err)?;
        self.network.inject(sender, start, &bytes);
        Ok(())
    }

    #[pyo3(signature = (mote, chip, image, *, wiring=None, trace=false, settings=None, device_number=None,
                        surroundings=None))]
    #[allow(clippy::too_many_arguments)]
    fn restart(
        &mut self,
        mote: usize,
        chip: &Chip,
        image: &Image,
        wiring: Option<&Wiring>,
        trace: bool,
        settings: Option<Settings<'_>>,
        device_number: Option<u64>,
        surroundings: Option<Surroundings>,
    ) -> PyResult<()> {
        self.check(mote)?;
        let mut asked = numbers(settings)?;
        let serial = number_of(&chip.chip, &mut asked, device_number)?;
        let options = Options {
            trace,
            settings: settings_of(&chip.chip, mote, asked),
            surroundings: signals(surroundings)?,
            resets: u32::MAX,
            ..Options::default()
        };
        let mut machine = made(chip, wiring, image, &options)?;
        give_serial(&mut machine, mote, serial)?;
        let earlier = self.board(mote)?;
        machine
            .take_flash(&earlier.machine, &chip.chip)
            .map_err(machine_error)?;
        let kept = earlier
            .machine
            .with_device(FLASH, |device: &mut M25p80, _| device.kept());
        // The board need not have one.
        if let Ok(kept) = kept {
            let _ = machine.with_device(FLASH, |device: &mut M25p80, _| *device = kept);
        }
        let board = Seated::Board(Box::new(earlier.restarted(machine)));
        drop(self.network.restart(mote, board));
        Ok(())
    }

    fn run(&mut self, py: Python<'_>, until_ps: u64) {
        py.detach(|| self.network.run(Picoseconds(until_ps)));
    }

    #[getter]
    fn time_ps(&self) -> u64 {
        self.network.time().0
    }

    #[getter]
    fn late(&self) -> u64 {
        self.network.late()
    }

    #[getter]
    fn digest(&self) -> String {
        self.network.digest()
    }

    #[pyo3(signature = (*, all=false))]
    fn take_transmissions(&mut self, py: Python<'_>, all: bool) -> Vec<Transmission> {
        let taken = self.network.take_transmissions(all).into_iter();
        let hearing = |hearing: &network::Hearing| Hearing {
            mote: hearing.mote,
            power_dbm: hearing.power_dbm,
            outcome: hearing.outcome.map(joulemark_radio::Outcome::name),
        };
        taken
            .map(|t| {
                let phy = t.start.phy;
                let sent = phy.sent_bytes(&t.bytes).unwrap_or(0).min(t.bytes.len());
                let frame = t.bytes.get(phy.header_bytes..sent).unwrap_or_default();
                Transmission {
                    mote: t.mote,
                    number: t.number,
                    phy: Phy { phy },
                    begin_ps: t.start.begin.0,
                    delimiter_ps: t.start.delimiter.0,
                    end_ps: t.end.0,
                    frequency_mhz: t.start.frequency_mhz,
                    power_dbm: t.start.power_dbm,
                    sync: t.start.sync,
                    frame: PyBytes::new(py, frame).unbind(),
                    is_cut: t.is_cut(),
                    hearings: t.hearings.iter().map(hearing).collect(),
                }
            })
            .collect()
    }

    fn cycles(&mut self, mote: usize) -> PyResult<u64> {
        Ok(self.board(mote)?.machine.cycles())
    }

    fn sleep_cycles(&mut self, mote: usize) -> PyResult<u64> {
        Ok(self.board(mote)?.machine.sleep_cycles())
    }

    fn resets(&mut self, mote: usize) -> PyResult<u32> {
        Ok(self.board(mote)?.machine.resets())
    }

    fn instructions(&mut self, mote: usize) -> PyResult<u64> {
        Ok(self.board(mote)?.machine.instructions())
    }

    fn fault(&mut self, mote: usize) -> PyResult<Option<Stop>> {
        Ok(self.board(mote)?.stop.clone().map(Stop::from))
    }

    fn has_radio(&mut self, mote: usize) -> PyResult<bool> {
        Ok(self.board(mote)?.with_antenna(&mut |_| {}))
    }

    fn read_memory<'py>(
        &mut self,
        py: Python<'py>,
        mote: usize,
        address: u32,
        length: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let machine = &self.board(mote)?.machine;
        let bytes = machine
            .read_memory(address, length)
            .map_err(machine_error)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn serial_ports(&mut self, mote: usize) -> PyResult<Vec<&'static str>> {
        Ok(self.board(mote)?.machine.serial_ports().to_vec())
    }

    fn serial_write(&mut self, mote: usize, port: &str, data: &[u8]) -> PyResult<()> {
        let machine = &mut self.board(mote)?.machine;
        machine.serial_write(port, data).map_err(machine_error)?;
        self.network.touched(mote);
        Ok(())
    }

    fn serial_read_timed(&mut self, mote: usize, port: &str) -> PyResult<Vec<(u8, u64)>> {
        let machine = &mut self.board(mote)?.machine;
        let sent = machine.serial_read(port).map_err(machine_error)?;
        let clock = self.network.clock(mote);
        let sent = sent.into_iter();
        Ok(sent
            .map(|(byte, time)| (byte, clock.global(time).0))
            .collect())
    }

    fn serial_take(&mut self) -> PyResult<Vec<Sent>> {
        let mut taken = Vec::new();
        for mote in 0..self.count {
            let clock = self.network.clock(mote);
            let Some(board) = self.network.mote_mut(mote).board() else {
                continue;
            };
            for &port in board.machine.serial_ports() {
                let sent = board.machine.serial_read(port).map_err(machine_error)?;
                if !sent.is_empty() {
                    let sent = sent.into_iter();
                    let sent = sent.map(|(byte, time)| (byte, clock.global(time).0));
                    taken.push((mote, port, sent.collect()));
                }
            }
        }
        Ok(taken)
    }

    fn marker_edges(&mut self, mote: usize) -> PyResult<Vec<MarkerEdge>> {
        let edges = self.board(mote)?.machine.marker_edges().to_vec();
        let clock = self.network.clock(mote);
        let edges = edges.into_iter().map(|edge| MarkerEdge {
            rising: edge.rising,
            cycles: edge.cycles,
            instructions: edge.instructions,
            time_ps: clock.global(edge.time).0,
        });
        Ok(edges.collect())
    }

    fn profile(&mut self, mote: usize) -> PyResult<Option<Profile>> {
        Ok(self.board(mote)?.machine.profile().map(Profile::from))
    }

    fn take_power_tracks(&mut self, mote: usize) -> PyResult<BTreeMap<String, Vec<PowerInterval>>> {
        let machine = &mut self.board(mote)?.machine;
        let tracks = machine.power_tracks();
        machine.clear_observations();
        Ok(intervals(&tracks, self.network.clock(mote)))
    }

    fn take_all_power_tracks(&mut self, py: Python<'_>) -> PowerTracks {
        self.times.resize(self.count, Times::new());
        let motes = py.detach(|| {
            let times = self.times.iter_mut().enumerate();
            let taken = times.map(|(mote, times)| {
                let clock = self.network.clock(mote);
                let Some(board) = self.network.mote_mut(mote).board() else {
                    return (Vec::new(), clock);
                };
                let tracks = board.machine.power_tracks();
                board.machine.clear_observations();
                for track in &tracks {
                    if !times.contains_key(&track.part) {
                        times.insert(track.part.clone(), BTreeMap::new());
                    }
                    let Some(times) = times.get_mut(&track.part) else {
                        continue;
                    };
                    for interval in &track.intervals {
                        let span = clock.global(interval.end).0 - clock.global(interval.start).0;
                        *times
                            .entry((interval.state, interval.clock_hz))
                            .or_default() += span;
                    }
                }
                (tracks, clock)
            });
            taken.collect()
        });
        PowerTracks { motes }
    }

    fn occupancy(&self, mote: usize) -> PyResult<BTreeMap<(String, &'static str, u32), u64>> {
        self.check(mote)?;
        let parts = self.times.get(mote).into_iter().flatten();
        Ok(parts
            .flat_map(|(part, times)| {
                let times = times.iter();
                times.map(move |(&(state, hz), &time)| ((part.clone(), state, hz), time))
            })
            .collect())
    }

    fn faulted(&mut self) -> Vec<usize> {
        let motes = 0..self.count;
        let is_faulted = |&mote: &usize| {
            let board = self.network.mote_mut(mote).board();
            board.is_some_and(|board| board.stop.is_some())
        };
        motes.filter(is_faulted).collect()
    }
}
