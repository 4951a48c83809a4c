//! The Python module `joulemark._engine`. Its types and their meaning are in `_engine.pyi`.

// PyO3 hands arguments over by value, and gives its exceptions and classes undocumented items.
#![allow(clippy::needless_pass_by_value, missing_docs)]

mod network;
mod phy;

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

use joulemark_devices::m25p80::M25p80;
use joulemark_devices::{Placement, Wiring as KernelWiring};
use joulemark_kernel::chip::Constant;
use joulemark_kernel::{Chip as KernelChip, Image as KernelImage, Picoseconds, Signal, trace};
use joulemark_machine as machine;
use pyo3::create_exception;
use pyo3::exceptions::{PyException, PyOSError, PyOverflowError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

create_exception!(
    joulemark._engine,
    EngineError,
    PyException,
    "Bad input to the engine: the message says what, where and how to mend it."
);
create_exception!(
    joulemark._engine,
    ChipError,
    EngineError,
    "A chip file that is wrong; the message names the file and the key."
);
create_exception!(
    joulemark._engine,
    ImageError,
    EngineError,
    "An image that cannot be read, or that is not for this chip."
);
create_exception!(
    joulemark._engine,
    BoardError,
    EngineError,
    "A board file whose devices are wrong; the message names the file and the key."
);

fn machine_error(error: machine::Error) -> PyErr {
    let text = error.to_string();
    match error {
        machine::Error::Image(_) => ImageError::new_err(text),
        machine::Error::Chip(_) => ChipError::new_err(text),
        machine::Error::Board(_) => BoardError::new_err(text),
        machine::Error::Argument(_) => EngineError::new_err(text),
    }
}

fn chip_error(error: joulemark_kernel::ChipError) -> PyErr {
    ChipError::new_err(error.0)
}

fn image_error(error: joulemark_kernel::ImageError) -> PyErr {
    ImageError::new_err(error.0)
}

/// A 32-bit number; a number out of range is bad input, not an overflow.
#[derive(Clone, Copy)]
struct Word(u32);

impl<'py> FromPyObject<'py> for Word {
    fn extract_bound(number: &Bound<'py, PyAny>) -> PyResult<Self> {
        number.extract().map(Self).map_err(|error| {
            if error.is_instance_of::<PyOverflowError>(number.py()) {
                EngineError::new_err(format!("{number} is not from 0 to {}", u32::MAX))
            } else {
                error
            }
        })
    }
}

/// A physical constant and its source.
#[pyclass(frozen, get_all, module = "joulemark._engine")]
struct Sourced {
    value: f64,
    source: String,
    grade: &'static str,
}

impl From<Constant> for Sourced {
    fn from(constant: Constant) -> Self {
        Self {
            value: constant.value,
            grade: constant.grade.name(),
            source: constant.source,
        }
    }
}

/// A region of a chip's memory map.
#[pyclass(frozen, get_all, module = "joulemark._engine")]
#[derive(Clone)]
struct MemoryRegion {
    name: String,
    kind: &'static str,
    start: u32,
    size: u32,
}

/// A chip file, checked: unknown keys and constants without a source are errors.
#[pyclass(frozen, module = "joulemark._engine")]
struct Chip {
    chip: Arc<KernelChip>,
}

#[pymethods]
impl Chip {
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        let chip = Arc::new(machine::load_chip(&path).map_err(chip_error)?);
        Ok(Self { chip })
    }

    #[getter]
    fn name(&self) -> &str {
        &self.chip.name
    }

    #[getter]
    fn core(&self) -> &str {
        &self.chip.core
    }

    #[getter]
    fn cpu(&self) -> &str {
        &self.chip.cpu
    }

    #[getter]
    fn fpu(&self) -> &str {
        &self.chip.fpu
    }

    #[getter]
    fn series(&self) -> &str {
        &self.chip.series
    }

    #[getter]
    fn memories_keep_state(&self) -> bool {
        self.chip.memories_keep_state()
    }

    #[getter]
    fn description(&self) -> &str {
        &self.chip.description
    }

    #[getter]
    fn memories(&self) -> Vec<MemoryRegion> {
        self.chip
            .memory
            .iter()
            .map(|memory| MemoryRegion {
                name: memory.name.clone(),
                kind: memory.kind.name(),
                start: memory.start,
                size: memory.size,
            })
            .collect()
    }

    #[getter]
    fn vectors(&self) -> BTreeMap<&str, u32> {
        let table = &self.chip.vectors.table;
        table
            .iter()
            .map(|(name, &address)| (name.as_str(), address))
            .collect()
    }

    #[getter]
    fn registers(&self) -> BTreeMap<&str, (u32, u32)> {
        let table = &self.chip.registers.table;
        table
            .iter()
            .map(|(name, register)| (name.as_str(), (register.address, register.bits)))
            .collect()
    }

    #[getter]
    fn power_states(&self) -> Vec<&str> {
        self.chip
            .power_state
            .iter()
            .map(|state| state.name.as_str())
            .collect()
    }

    fn current_a(&self, state: &str, clock_hz: u32, supply_v: f64) -> PyResult<Sourced> {
        let current = self.chip.current_a(state, clock_hz, supply_v);
        current.map(Sourced::from).map_err(chip_error)
    }

    #[getter]
    fn absent(&self) -> Vec<&str> {
        self.chip
            .absent
            .iter()
            .map(|absent| absent.name.as_str())
            .collect()
    }

    #[getter]
    fn settings(&self) -> BTreeMap<&str, (u32, &str)> {
        let settings = &self.chip.settings;
        settings
            .iter()
            .map(|(name, s)| (name.as_str(), (s.default, s.description.as_str())))
            .collect()
    }
}

/// A program: ELF, Intel HEX, or raw bytes at an address.
#[pyclass(frozen, module = "joulemark._engine")]
struct Image {
    image: Arc<KernelImage>,
}

#[pymethods]
impl Image {
    #[staticmethod]
    #[pyo3(signature = (path, raw_address=None))]
    fn load(path: PathBuf, raw_address: Option<Word>) -> PyResult<Self> {
        let image = Arc::new(
            machine::load_image(&path, raw_address.map(|address| address.0))
                .map_err(image_error)?,
        );
        Ok(Self { image })
    }

    #[getter]
    fn format(&self) -> &'static str {
        self.image.format.name()
    }

    #[getter]
    fn entry(&self) -> Option<u32> {
        self.image.entry
    }

    #[getter]
    fn symbols(&self) -> BTreeMap<&str, u32> {
        let symbols = self.image.symbols.addresses();
        symbols
            .iter()
            .map(|(name, &address)| (name.as_str(), address))
            .collect()
    }

    #[getter]
    fn digest(&self) -> String {
        self.image.digest()
    }

    fn resolve(&self, address: &str) -> PyResult<u32> {
        self.image.resolve(address).map_err(image_error)
    }

    fn with_variables(&self, values: BTreeMap<String, i64>) -> PyResult<Self> {
        let mut image = KernelImage::clone(&self.image);
        for (name, value) in values {
            image.set_variable(&name, value).map_err(image_error)?;
        }
        let image = Arc::new(image);
        Ok(Self { image })
    }
}

/// A call on the emulated program's stack.
#[pyclass(frozen, get_all, module = "joulemark._engine")]
#[derive(Clone)]
struct Frame {
    address: u32,
    symbol: String,
    offset: u32,
}

impl From<machine::Frame> for Frame {
    fn from(frame: machine::Frame) -> Self {
        Self {
            address: frame.address,
            symbol: frame.symbol,
            offset: frame.offset,
        }
    }
}

/// The devices that a board file wires to its chip.
#[pyclass(frozen, module = "joulemark._engine")]
struct Wiring {
    wiring: KernelWiring,
}

impl Wiring {
    fn placement(&self, device: &str) -> PyResult<&Placement> {
        let placements = &self.wiring.placements;
        let mut found = placements.iter();
        found.find(|found| found.name == device).ok_or_else(|| {
            let names: Vec<&str> = placements.iter().map(|p| p.name.as_str()).collect();
            let there = names.join(", ");
            EngineError::new_err(format!(
                "no device '{device}' on this board; it has {there}"
            ))
        })
    }
}

#[pymethods]
impl Wiring {
    #[staticmethod]
    fn load(path: PathBuf) -> PyResult<Self> {
        let wiring = KernelWiring::load(&path).map_err(|error| BoardError::new_err(error.0))?;
        Ok(Self { wiring })
    }

    #[getter]
    fn devices(&self) -> BTreeMap<&str, &str> {
        let placements = self.wiring.placements.iter();
        placements
            .map(|placement| (placement.name.as_str(), placement.figures.title.as_str()))
            .collect()
    }

    fn quiescent(&self, device: &str) -> PyResult<Vec<&str>> {
        let states = self.placement(device)?.quiescent.iter();
        Ok(states.map(String::as_str).collect())
    }

    fn current_a(&self, device: &str, state: &str) -> PyResult<Sourced> {
        let current = self.placement(device)?.current_a(state);
        let missing = || EngineError::new_err(format!("device {device} has no state '{state}'"));
        Ok(current.ok_or_else(missing)?.clone().into())
    }
}

/// An error that silicon would let pass silently.
#[pyclass(frozen, get_all, module = "joulemark._engine")]
#[derive(Clone)]
struct Fault {
    kind: &'static str,
    message: String,
    address: Option<u32>,
    call_stack: Vec<Frame>,
}

/// Why a run ended.
#[pyclass(frozen, get_all, module = "joulemark._engine")]
struct Stop {
    reason: &'static str,
    address: u32,
    fault: Option<Fault>,
}

impl From<machine::Stop> for Stop {
    fn from(stop: machine::Stop) -> Self {
        Self {
            reason: stop.reason.name(),
            address: stop.address,
            fault: stop.fault.map(|fault| Fault {
                kind: fault.kind,
                message: fault.message,
                address: fault.address,
                call_stack: fault.call_stack.into_iter().map(Frame::from).collect(),
            }),
        }
    }
}

/// A change of the marker pin.
#[pyclass(frozen, get_all, module = "joulemark._engine")]
struct MarkerEdge {
    rising: bool,
    cycles: u64,
    instructions: u64,
    time_ps: u64,
}

/// An interval in one power state at one clock.
#[pyclass(frozen, get_all, module = "joulemark._engine")]
struct PowerInterval {
    state: &'static str,
    clock_hz: u32,
    start_ps: u64,
    end_ps: u64,
}

/// The cost of a function.
#[pyclass(frozen, get_all, module = "joulemark._engine")]
#[derive(Clone)]
struct FunctionCost {
    name: String,
    address: u32,
    end: u32,
    calls: u64,
    self_cycles: u64,
    total_cycles: u64,
    self_instructions: u64,
    stack_bytes: u32,
}

/// A call path and the cycles spent in its last function: a line of a flame graph.
#[pyclass(frozen, get_all, module = "joulemark._engine")]
#[derive(Clone)]
struct CallPath {
    path: Vec<String>,
    self_cycles: u64,
}

/// Cycles and instructions by function, and the call graph.
#[pyclass(frozen, get_all, module = "joulemark._engine")]
struct Profile {
    functions: Vec<FunctionCost>,
    paths: Vec<CallPath>,
}

impl From<machine::Profile> for Profile {
    fn from(profile: machine::Profile) -> Self {
        let functions = profile.functions.into_iter();
        let paths = profile.paths.into_iter();
        Self {
            functions: functions
                .map(|function| FunctionCost {
                    name: function.name,
                    address: function.address,
                    end: function.end,
                    calls: function.calls,
                    self_cycles: function.self_cycles,
                    total_cycles: function.total_cycles,
                    self_instructions: function.self_instructions,
                    stack_bytes: function.stack_bytes,
                })
                .collect(),
            paths: paths
                .map(|path| CallPath {
                    path: path.path,
                    self_cycles: path.self_cycles,
                })
                .collect(),
        }
    }
}

/// Execution over time: instructions by address, and calls in order of time.
#[pyclass(frozen, get_all, module = "joulemark._engine")]
struct Followed {
    places: Vec<(u32, bool, usize, u64, u64, u64)>,
    turns: Vec<(u64, usize, bool, usize)>,
    end_ps: u64,
    paths: Vec<Vec<String>>,
    states: Vec<Vec<(String, String, u32)>>,
    stack_pointers: Vec<u32>,
}

impl From<machine::Followed> for Followed {
    fn from(followed: machine::Followed) -> Self {
        let places = followed.places.into_iter();
        let turns = followed.turns.into_iter();
        let states = followed.states.into_iter();
        let owned = |(part, state, hz): machine::PartState| (part, state.to_owned(), hz);
        Self {
            places: places
                .map(|(at, cost)| {
                    let spent = (cost.cycles, cost.instructions, cost.time.0);
                    (
                        at.address,
                        at.is_asleep,
                        at.states,
                        spent.0,
                        spent.1,
                        spent.2,
                    )
                })
                .collect(),
            turns: turns
                .map(|turn| (turn.start.0, turn.path, turn.is_asleep, turn.states))
                .collect(),
            end_ps: followed.end.0,
            paths: followed.paths,
            states: states
                .map(|states| states.into_iter().map(owned).collect())
                .collect(),
            stack_pointers: followed.stack_pointers,
        }
    }
}

/// Consecutive bytes of a secret: its name, the first and the last byte's number.
type Part = (String, u32, u32);

/// An instruction that uses a secret to decide something.
#[pyclass(frozen, get_all, module = "joulemark._engine")]
#[derive(Clone)]
struct SecretUse {
    address: u32,
    decided_at: u32,
    decides: &'static str,
    times: u64,
    parts: Vec<Part>,
    extra_cycles: Option<u32>,
    span: (u32, u32),
    call_stack: Vec<Frame>,
}

/// What secrets decided.
#[pyclass(frozen, get_all, module = "joulemark._engine")]
struct Secrets {
    uses: Vec<SecretUse>,
    reached: usize,
    one_way: Vec<(u32, bool)>,
    devices: Vec<(u32, Vec<Part>)>,
    lost: Vec<u32>,
}

impl From<machine::Secrets> for Secrets {
    fn from(secrets: machine::Secrets) -> Self {
        let uses = secrets.uses.into_iter();
        Self {
            uses: uses
                .map(|found| SecretUse {
                    address: found.address,
                    decided_at: found.decided_at,
                    decides: found.decides,
                    times: found.times,
                    parts: found.parts,
                    extra_cycles: found.extra_cycles,
                    span: found.span,
                    call_stack: found.call_stack.into_iter().map(Frame::from).collect(),
                })
                .collect(),
            reached: secrets.reached,
            one_way: secrets.one_way,
            devices: secrets.devices,
            lost: secrets.lost,
        }
    }
}

/// Chip settings by name.
type Settings<'py> = HashMap<String, Bound<'py, PyAny>>;

fn numbers(settings: Option<Settings<'_>>) -> PyResult<BTreeMap<String, u32>> {
    let settings = settings.unwrap_or_default().into_iter();
    settings
        .map(|(name, value)| {
            let value: Word = value.extract().map_err(|error: PyErr| {
                EngineError::new_err(format!("setting '{name}': {}", error.value(value.py())))
            })?;
            Ok((name, value.0))
        })
        .collect()
}

/// What surrounds a board: points of each quantity, in picoseconds and millionths of its unit.
type Surroundings = BTreeMap<String, Vec<(u64, i64)>>;

fn signals(surroundings: Option<Surroundings>) -> PyResult<BTreeMap<String, Signal>> {
    let given = surroundings.unwrap_or_default().into_iter();
    given
        .map(|(quantity, points)| {
            let points = points
                .into_iter()
                .map(|(at, value)| (Picoseconds(at), value));
            let signal = Signal::through(points.collect())
                .map_err(|what| EngineError::new_err(format!("{quantity}: {what}")))?;
            Ok((quantity, signal))
        })
        .collect()
}

const fn counting(profile: bool) -> machine::Profiling {
    if profile {
        machine::Profiling::Functions
    } else {
        machine::Profiling::Off
    }
}

fn made(
    chip: &Chip,
    wiring: Option<&Wiring>,
    image: &Image,
    options: &machine::Options,
) -> PyResult<machine::Machine> {
    let bare = KernelWiring::default();
    let wiring = wiring.map_or(&bare, |wiring| &wiring.wiring);
    machine::Machine::new(&chip.chip, wiring, &image.image, options).map_err(machine_error)
}

fn power_tracks_of(machine: &machine::Machine) -> BTreeMap<String, Vec<PowerInterval>> {
    let interval = |interval: trace::PowerInterval| PowerInterval {
        state: interval.state,
        clock_hz: interval.clock_hz,
        start_ps: interval.start.0,
        end_ps: interval.end.0,
    };
    let tracks = machine.power_tracks().into_iter();
    tracks
        .map(|track| {
            let intervals = track.intervals.into_iter().map(interval);
            (track.part, intervals.collect())
        })
        .collect()
}

/// An emulated chip. There is no global state: any thread can create any number of machines.
#[pyclass(module = "joulemark._engine")]
#[allow(clippy::struct_field_names, reason = "the engine's machine is one")]
struct Machine {
    machine: machine::Machine,
    chip: Arc<KernelChip>,
    /// What it was made of, for a debugger that goes back.
    made_of: (Py<Chip>, Option<Py<Wiring>>, Py<Image>, machine::Options),
    /// What changed it from outside, up to [`MOST_KEPT_BYTES`].
    changes: Vec<(joulemark_debug::Position, joulemark_debug::Change)>,
    kept_bytes: usize,
    /// Why it cannot be run again.
    obstacle: Option<&'static str>,
    /// Bytes read so far, by serial port, and those that a debugger's going back brought again.
    taken: HashMap<String, usize>,
    waiting: HashMap<String, Vec<(u8, u64)>>,
}

/// Bytes of changes from outside that are kept.
const MOST_KEPT_BYTES: usize = 1 << 20;

impl Machine {
    fn note(&mut self, change: joulemark_debug::Change, bytes: usize) {
        self.kept_bytes += bytes;
        if self.kept_bytes > MOST_KEPT_BYTES {
            self.changes = Vec::new();
            self.obstacle = Some("more than 1 MB was written to this machine");
        } else {
            let here = joulemark_debug::Position::of(&self.machine);
            self.changes.push((here, change));
        }
    }

    fn take_sent(&mut self, port: &str) -> PyResult<Vec<(u8, u64)>> {
        let sent = self.machine.serial_read(port).map_err(machine_error)?;
        let mut bytes = self.waiting.remove(port).unwrap_or_default();
        bytes.extend(sent.into_iter().map(|(byte, time)| (byte, time.0)));
        *self.taken.entry(port.to_owned()).or_default() += bytes.len();
        Ok(bytes)
    }

    /// A debugger went back: the machine sent again what had been read.
    fn forget_sent(&mut self) -> PyResult<()> {
        for (port, count) in self.taken.clone() {
            let sent = self.machine.serial_read(&port).map_err(machine_error)?;
            let fresh = sent.into_iter().skip(count);
            let fresh = fresh.map(|(byte, time)| (byte, time.0)).collect();
            self.waiting.insert(port, fresh);
        }
        Ok(())
    }
}

#[pymethods]
impl Machine {
    #[new]
    #[pyo3(signature = (chip, image, *, wiring=None, entry=None, marker=None, profile=false, trace=false,
                        secrets_trace=false, follow=false, resets=0, settings=None, surroundings=None))]
    #[allow(clippy::too_many_arguments, clippy::fn_params_excessive_bools)]
    fn new(
        chip: Py<Chip>,
        image: Py<Image>,
        wiring: Option<Py<Wiring>>,
        entry: Option<Word>,
        marker: Option<String>,
        profile: bool,
        trace: bool,
        secrets_trace: bool,
        follow: bool,
        resets: u32,
        settings: Option<HashMap<String, Bound<'_, PyAny>>>,
        surroundings: Option<Surroundings>,
    ) -> PyResult<Self> {
        let options = machine::Options {
            entry: entry.map(|address| address.0),
            marker,
            profile: if follow {
                machine::Profiling::Instructions
            } else {
                counting(profile)
            },
            trace: trace || follow,
            secrets_trace,
            resets,
            settings: numbers(settings)?,
            surroundings: signals(surroundings)?,
        };
        let of_wiring = wiring.as_ref().map(Py::get);
        let machine = made(chip.get(), of_wiring, image.get(), &options)?;
        Ok(Self {
            machine,
            chip: Arc::clone(&chip.get().chip),
            made_of: (chip, wiring, image, options),
            changes: Vec::new(),
            kept_bytes: 0,
            obstacle: None,
            taken: HashMap::new(),
            waiting: HashMap::new(),
        })
    }

    #[pyo3(signature = (*, until=None, until_marker=false, until_serial=None, until_asleep=false,
                        until_ps=None, max_cycles=None))]
    #[allow(clippy::too_many_arguments)]
    fn run(
        &mut self,
        py: Python<'_>,
        until: Option<Word>,
        until_marker: bool,
        until_serial: Option<u8>,
        until_asleep: bool,
        until_ps: Option<u64>,
        max_cycles: Option<u64>,
    ) -> PyResult<Stop> {
        let until = machine::Until {
            address: until.map(|address| address.0),
            marker: until_marker,
            serial: until_serial,
            asleep: until_asleep,
            max_cycles,
            time: until_ps.map(Picoseconds),
            // What devices have for the outside world is taken in Rust.
            device: false,
        };
        let stop = py.detach(|| self.machine.run(until));
        stop.map(Stop::from).map_err(machine_error)
    }

    fn watch(&mut self, addresses: Vec<u32>) -> PyResult<()> {
        self.machine.watch(&addresses).map_err(machine_error)
    }

    #[pyo3(signature = (host, port, energy=None))]
    fn serve_gdb(
        &mut self,
        py: Python<'_>,
        host: &str,
        port: u16,
        energy: Option<Py<PyAny>>,
    ) -> PyResult<()> {
        let listener = std::net::TcpListener::bind((host, port))
            .map_err(|error| EngineError::new_err(format!("{host}:{port}: {error}")))?;
        let mut interrupted = None;
        let (chip, wiring, image, options) = &self.made_of;
        let (chip, wiring, image) = (chip.get(), wiring.as_ref().map(Py::get), image.get());
        let mut made_again = false;
        let machine = &mut self.machine;
        let (changes, obstacle) = (self.changes.clone(), self.obstacle);
        let served = py.detach(|| {
            #[allow(
                clippy::redundant_closure_for_method_calls,
                reason = "the method is of one lifetime, and any is asked for"
            )]
            let mut go_on = || match Python::attach(|py| py.check_signals()) {
                Ok(()) => true,
                Err(error) => {
                    interrupted = Some(error);
                    false
                }
            };
            let bare = KernelWiring::default();
            let make = || {
                made_again = true;
                let wiring = wiring.map_or(&bare, |wiring| &wiring.wiring);
                machine::Machine::new(&chip.chip, wiring, &image.image, options)
            };
            let past = joulemark_debug::Past {
                make: Box::new(make),
                changes,
                obstacle,
            };
            let mut told = |machine: &machine::Machine| {
                let energy = energy.as_ref()?;
                let tracks = power_tracks_of(machine);
                let now = machine.time().0;
                Python::attach(|py| energy.call1(py, (tracks, now))?.extract::<String>(py)).ok()
            };
            joulemark_debug::serve(&listener, machine, past, &mut told, &mut go_on)
        });
        if made_again {
            self.forget_sent()?;
        }
        if let Some(error) = interrupted {
            return Err(error);
        }
        served.map_err(EngineError::new_err)
    }

    #[getter]
    fn cycles(&self) -> u64 {
        self.machine.cycles()
    }

    #[getter]
    fn sleep_cycles(&self) -> u64 {
        self.machine.sleep_cycles()
    }

    #[getter]
    fn resets(&self) -> u32 {
        self.machine.resets()
    }

    #[getter]
    fn instructions(&self) -> u64 {
        self.machine.instructions()
    }

    #[getter]
    fn time_ps(&self) -> u64 {
        self.machine.time().0
    }

    #[getter]
    fn next_event_ps(&self) -> Option<u64> {
        self.machine.next_event().map(|time| time.0)
    }

    #[getter]
    fn clock_hz(&self) -> u32 {
        self.machine.clock_hz()
    }

    #[getter]
    fn registers(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        // A dict keeps the registers' order.
        let registers = pyo3::types::PyDict::new(py);
        for (name, value) in self.machine.registers() {
            registers.set_item(name, value)?;
        }
        Ok(registers.into_any().unbind())
    }

    fn set_register(&mut self, name: &str, value: u32) -> PyResult<()> {
        self.note(joulemark_debug::Change::Register(name.into(), value), 8);
        self.machine
            .set_register(name, value)
            .map_err(machine_error)
    }

    fn read_memory<'py>(
        &self,
        py: Python<'py>,
        address: u32,
        length: usize,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = self
            .machine
            .read_memory(address, length)
            .map_err(machine_error)?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn write_memory(&mut self, address: u32, data: &[u8]) -> PyResult<()> {
        let change = joulemark_debug::Change::Memory(address, data.to_vec());
        self.note(change, data.len());
        self.machine
            .write_memory(address, data)
            .map_err(machine_error)
    }

    fn torn_flash(&self) -> Vec<u32> {
        self.machine.torn_flash()
    }

    fn tear_flash(&mut self, addresses: Vec<u32>) {
        self.obstacle = Some("words of its flash were torn");
        self.machine.tear_flash(&addresses);
    }

    fn read_serial_flash<'py>(
        &mut self,
        py: Python<'py>,
        device: &str,
    ) -> PyResult<Bound<'py, PyBytes>> {
        let contents = self
            .machine
            .with_device(device, |flash: &mut M25p80, lines| {
                flash.after_power_loss(lines.now())
            })
            .map_err(machine_error)?;
        Ok(PyBytes::new(py, &contents))
    }

    fn load_serial_flash(&mut self, device: &str, data: &[u8]) -> PyResult<()> {
        self.obstacle = Some("its serial flash was loaded");
        self.machine
            .with_device(device, |flash: &mut M25p80, _| flash.load(data))
            .map_err(machine_error)
    }

    fn learn_from(&mut self, earlier: &mut Self) {
        self.machine.learn_from(&mut earlier.machine);
    }

    #[getter]
    fn serial_ports(&self) -> Vec<&'static str> {
        self.machine.serial_ports().to_vec()
    }

    fn serial_write(&mut self, port: &str, data: &[u8]) -> PyResult<()> {
        let change = joulemark_debug::Change::Serial(port.into(), data.to_vec());
        self.note(change, data.len());
        self.machine.serial_write(port, data).map_err(machine_error)
    }

    fn serial_read<'py>(&mut self, py: Python<'py>, port: &str) -> PyResult<Bound<'py, PyBytes>> {
        let sent = self.take_sent(port)?;
        let bytes: Vec<u8> = sent.into_iter().map(|(byte, _)| byte).collect();
        Ok(PyBytes::new(py, &bytes))
    }

    fn serial_read_timed(&mut self, port: &str) -> PyResult<Vec<(u8, u64)>> {
        self.take_sent(port)
    }

    fn set_pin(&mut self, pin: &str, high: bool) -> PyResult<()> {
        self.note(joulemark_debug::Change::Pin(pin.into(), high), 1);
        self.machine.set_pin(pin, high).map_err(machine_error)
    }

    #[getter]
    fn marker_edges(&self) -> Vec<MarkerEdge> {
        self.machine
            .marker_edges()
            .iter()
            .map(|edge| MarkerEdge {
                rising: edge.rising,
                cycles: edge.cycles,
                instructions: edge.instructions,
                time_ps: edge.time.0,
            })
            .collect()
    }

    fn forget_memory(&mut self) {
        self.machine.forget_memory();
    }

    fn clear_observations(&mut self) {
        self.machine.clear_observations();
    }

    #[getter]
    fn stack_bytes(&self) -> u32 {
        self.machine.stack_bytes()
    }

    #[getter]
    fn power_tracks(&self) -> BTreeMap<String, Vec<PowerInterval>> {
        power_tracks_of(&self.machine)
    }

    #[getter]
    fn profile(&mut self) -> PyResult<Profile> {
        let profile = self.machine.profile().ok_or_else(|| {
            EngineError::new_err("no profile is kept; make the machine with profile=True")
        })?;
        Ok(Profile::from(profile))
    }

    #[getter]
    fn followed(&mut self) -> PyResult<Followed> {
        let followed = self.machine.followed().ok_or_else(|| {
            EngineError::new_err("nothing is followed; make the machine with follow=True")
        })?;
        Ok(Followed::from(followed))
    }

    #[getter]
    fn secrets_digest(&self) -> PyResult<String> {
        let digest = self.machine.secrets_digest().ok_or_else(|| {
            EngineError::new_err("no digest is kept; make the machine with secrets_trace=True")
        })?;
        Ok(format!("{digest:016x}"))
    }

    fn count_activity(&mut self, on: bool) {
        self.machine.count_activity(on);
    }

    /// Counts by row, and the addresses of instructions, as bytes.
    fn take_activity<'py>(&mut self, py: Python<'py>) -> [Bound<'py, PyBytes>; 3] {
        let found = self.machine.take_activity();
        let bytes = |words: &[u32]| {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            PyBytes::new(py, &bytes)
        };
        [
            PyBytes::new(py, found.rows.as_flattened()),
            bytes(&found.executes),
            bytes(&found.transfers),
        ]
    }

    #[getter]
    fn follows_secrets(&self) -> bool {
        self.machine.follows_secrets()
    }

    #[pyo3(signature = (secrets, public_code=None))]
    fn follow_secrets(
        &mut self,
        secrets: Vec<(String, Word, Word)>,
        public_code: Option<Vec<(Word, Word)>>,
    ) -> PyResult<()> {
        let secrets: Vec<machine::Secret> = secrets
            .into_iter()
            .map(|(name, address, length)| machine::Secret {
                name,
                address: address.0,
                length: length.0,
            })
            .collect();
        let ranges = public_code.unwrap_or_default().into_iter();
        let ranges: Vec<_> = ranges.map(|(first, end)| first.0..end.0).collect();
        self.machine
            .follow_secrets(&secrets, &ranges)
            .map_err(machine_error)
    }

    fn forget_secrets(&mut self) {
        self.machine.forget_secrets();
    }

    fn declare_public(&mut self, address: Word, length: Word) -> PyResult<()> {
        self.machine
            .declare_public(address.0, length.0)
            .map_err(machine_error)
    }

    #[getter]
    fn secrets(&self) -> PyResult<Secrets> {
        let secrets = self.machine.secrets().ok_or_else(|| {
            EngineError::new_err("no secrets are followed; call follow_secrets first")
        })?;
        Ok(Secrets::from(secrets))
    }

    fn write_vcd(&self, path: PathBuf) -> PyResult<()> {
        let failed = |error| PyOSError::new_err(format!("{}: {error}", path.display()));
        let file = std::fs::File::create(&path).map_err(failed)?;
        let tracks = self.machine.power_tracks();
        let output = std::io::BufWriter::new(file);
        trace::write_vcd(output, &self.chip.name, self.machine.pin_edges(), &tracks).map_err(failed)
    }
}

/// The emulation engine.
#[pymodule]
mod _engine {
    #[pymodule_export]
    use super::network::{Hearing, Network, PowerTracks, Transmission};
    #[pymodule_export]
    use super::phy::Phy;
    #[pymodule_export]
    use super::{
        BoardError, CallPath, Chip, ChipError, EngineError, Fault, Followed, Frame, FunctionCost,
        Image, ImageError, Machine, MarkerEdge, MemoryRegion, PowerInterval, Profile, SecretUse,
        Secrets, Sourced, Stop, Wiring,
    };

    /// What `Machine.take_activity` counts, in order.
    #[pymodule_export]
    pub const ACTIVITY: [&str; joulemark_kernel::power::COMPONENTS.len()] =
        joulemark_kernel::power::COMPONENTS;

    /// Digest of what the engine computes.
    #[pymodule_export]
    pub const DIGEST: &str = env!("JOULEMARK_ENGINE_DIGEST");
}
