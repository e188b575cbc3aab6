//! The one engine of the process, its clock, and the threads that guests run on.

use std::hash::{Hash as _, Hasher};
use std::num::NonZeroUsize;
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use sha2::{Digest as _, Sha256};
use tokio::runtime::{Builder, Runtime};
use wasmtime::{Config, Engine, WasmBacktraceDetails};

/// How often a running guest is interrupted to look at its deadline and to let others run.
const TICK: Duration = Duration::from_millis(10);

/// Threads for file operations of guests. A guest that opens a pipe in a granted folder blocks
/// one until the process ends, so there is a bound.
const BLOCKING_THREADS: usize = 64;

/// What all guests of the process share.
pub(super) struct Shared {
    /// One engine for the process: types of one engine mean nothing to another.
    pub(super) engine: Engine,
    /// Guests have a runtime of their own: one that computes would keep the host's timers and
    /// subprocesses waiting.
    pub(super) runtime: Runtime,
    /// Loading has another, which no guest can keep busy.
    pub(super) loading: Runtime,
    /// What tells machine code of this engine, with its version and settings, from all other.
    pub(super) fingerprint: [u8; 32],
    ticker: Arc<Ticker>,
}

impl Shared {
    /// The process's engine and runtime, made on first use.
    ///
    /// # Errors
    ///
    /// When the machine refuses threads, or cannot run the engine. The answer is kept: it would
    /// not be another one later.
    pub(super) fn get() -> Result<&'static Self, String> {
        static SHARED: OnceLock<Result<Shared, String>> = OnceLock::new();
        SHARED
            .get_or_init(|| Self::new().map_err(|error| format!("{error:#}")))
            .as_ref()
            .map_err(Clone::clone)
    }

    fn new() -> anyhow::Result<Self> {
        let engine = Engine::new(&config()).map_err(anyhow::Error::from)?;
        let workers = std::thread::available_parallelism().map_or(2, NonZeroUsize::get);
        let runtime = Builder::new_multi_thread()
            .worker_threads(workers)
            .max_blocking_threads(BLOCKING_THREADS)
            .thread_name("hookcell-guest")
            .enable_all()
            .build()?;
        let loading = Builder::new_multi_thread()
            .worker_threads(1)
            .max_blocking_threads(workers.max(4))
            .thread_name("hookcell-load")
            .enable_all()
            .build()?;
        let ticker = Arc::new(Ticker::default());
        let (beat, clock) = (engine.clone(), Arc::clone(&ticker));
        std::thread::Builder::new()
            .name("hookcell-epoch".into())
            .spawn(move || clock.tick(&beat))?;
        Ok(Self {
            fingerprint: fingerprint(&engine),
            engine,
            runtime,
            loading,
            ticker,
        })
    }

    /// Keeps the epoch going for as long as the guard lives.
    pub(super) fn ticking(&self) -> Ticking {
        Ticking::start(Arc::clone(&self.ticker))
    }
}

/// How all guests are compiled and run.
pub(super) fn config() -> Config {
    let mut config = Config::new();
    config
        .consume_fuel(true)
        .epoch_interruption(true)
        // WASI 0.3 is not offered, and its machinery costs every call.
        .concurrency_support(false)
        // Memories of 64 bits are beyond what any hook needs. A module with several is what the
        // engine itself makes where the modules of a component call each other.
        .wasm_memory64(false)
        .wasm_relaxed_simd(false)
        // The bits of a NaN would differ from machine to machine.
        .cranelift_nan_canonicalization(true)
        // The difference is the host's share: too little would abort the process.
        .max_wasm_stack(512 << 10)
        .async_stack_size(2 << 20)
        // The default reads an environment variable and parses debug information of the guest.
        .wasm_backtrace_details(WasmBacktraceDetails::Disable)
        .wasm_backtrace_max_frames(NonZeroUsize::new(16));
    config
}

fn fingerprint(engine: &Engine) -> [u8; 32] {
    /// Hashes alike in every process, as the standard library's hashers do not promise to.
    struct Digest(Sha256);

    impl Hasher for Digest {
        fn write(&mut self, bytes: &[u8]) {
            self.0.update(bytes);
        }

        fn finish(&self) -> u64 {
            0
        }
    }

    let mut digest = Digest(Sha256::new());
    digest.write(env!("CARGO_PKG_VERSION").as_bytes());
    engine.precompile_compatibility_hash().hash(&mut digest);
    digest.0.finalize().into()
}

/// Moves the engine's epoch on while at least one guest runs, and sleeps otherwise.
#[derive(Default)]
struct Ticker {
    running: Mutex<usize>,
    started: Condvar,
}

impl Ticker {
    fn tick(&self, engine: &Engine) {
        loop {
            let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            while *running == 0 {
                running = self
                    .started
                    .wait(running)
                    .unwrap_or_else(PoisonError::into_inner);
            }
            drop(running);
            std::thread::sleep(TICK);
            engine.increment_epoch();
        }
    }
}

/// One running guest, for the ticker.
pub(super) struct Ticking(Arc<Ticker>);

impl Ticking {
    fn start(ticker: Arc<Ticker>) -> Self {
        *ticker
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner) += 1;
        ticker.started.notify_one();
        Self(ticker)
    }
}

impl Drop for Ticking {
    fn drop(&mut self) {
        *self
            .0
            .running
            .lock()
            .unwrap_or_else(PoisonError::into_inner) -= 1;
    }
}
