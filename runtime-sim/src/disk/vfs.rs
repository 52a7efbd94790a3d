//! The C side: SQLite's calls, translated. Nothing is decided here.
//!
//! What SQLite promises of these calls is in its documentation under `sqlite3_vfs` and `sqlite3_io_methods`. None of the
//! functions unwinds into C: a panic in an `extern "C"` function ends the process.
#![allow(
    unsafe_code,
    reason = "SQLite is called, and calls, through C pointers"
)]

use super::dice::Dice;
use super::handle::{Handle, Mode};
use super::locks::Level;
use super::shm::REGION_BYTES;
use super::state::{Outcome, Refusal};
use super::{Disk, Operation, VFS};
use rusqlite::ffi;
use std::ffi::{CStr, CString, c_char, c_double, c_int, c_void};
use std::mem::MaybeUninit;
use std::num::NonZeroI32;
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering, fence};
use std::time::Duration;

/// Noon of 1 January 2000 as SQLite counts: milliseconds since noon of 24 November 4714 BC. It is always that time: no
/// statement of ours asks, and one that did would give itself away.
const NOW: i64 = 211_813_488_000_000;
const DAY: f64 = 86_400_000.0;

/// Longest path, in bytes with the final zero.
const PATH: c_int = 512;

/// Registers the VFS, once in the life of a process.
pub(super) fn register() {
    static REGISTERED: OnceLock<c_int> = OnceLock::new();
    let code = *REGISTERED.get_or_init(|| {
        let name = CString::new(VFS).expect("a name without zeros");
        // Both stay for the life of the process, as SQLite keeps the pointers that long.
        let vfs = Box::leak(Box::new(vfs(name.into_raw())));
        // SAFETY: `vfs` is a complete sqlite3_vfs of version 2 that is never moved, freed or touched by Rust again, and
        // every function in it is fit to be called from any thread.
        unsafe { ffi::sqlite3_vfs_register(vfs, 0) }
    });
    assert_eq!(code, ffi::SQLITE_OK, "SQLite refuses the simulated disk");
}

/// Fixes the salts that SQLite will draw for new write-ahead logs, or gives them back to chance.
///
/// The generator is one for the whole process, so only a process in which nothing else uses SQLite repeats itself to the
/// byte. Nothing that can be read from a database depends on a salt.
pub fn seed_salts(seed: Option<NonZeroI32>) {
    let seed = seed.map_or(0, NonZeroI32::get);
    // A disk registers the VFS, and that starts SQLite; before it has started, nothing may be seeded.
    register();
    // SAFETY: this test control takes an int and a connection, which may be null; SQLite guards its generator by a mutex.
    let code = unsafe {
        ffi::sqlite3_test_control(
            ffi::SQLITE_TESTCTRL_PRNG_SEED,
            seed,
            ptr::null_mut::<ffi::sqlite3>(),
        )
    };
    assert_eq!(
        code,
        ffi::SQLITE_OK,
        "SQLite was built without test controls"
    );
}

fn vfs(name: *const c_char) -> ffi::sqlite3_vfs {
    ffi::sqlite3_vfs {
        iVersion: 2,
        szOsFile: c_int::try_from(size_of::<OpenFile>()).expect("a small struct"),
        mxPathname: PATH,
        pNext: ptr::null_mut(),
        zName: name,
        pAppData: ptr::null_mut(),
        xOpen: Some(open),
        xDelete: Some(delete),
        xAccess: Some(access),
        xFullPathname: Some(full_pathname),
        // Only asked by sqlite3_load_extension, which is off unless it is switched on.
        xDlOpen: None,
        xDlError: None,
        xDlSym: None,
        xDlClose: None,
        xRandomness: Some(randomness),
        xSleep: Some(sleep),
        xCurrentTime: Some(current_time),
        xGetLastError: Some(last_error),
        xCurrentTimeInt64: Some(current_time_int64),
        xSetSystemCall: None,
        xGetSystemCall: None,
        xNextSystemCall: None,
    }
}

static METHODS: ffi::sqlite3_io_methods = ffi::sqlite3_io_methods {
    // With shared memory, without memory-mapped files.
    iVersion: 2,
    xClose: Some(close),
    xRead: Some(read),
    xWrite: Some(write),
    xTruncate: Some(truncate),
    xSync: Some(sync),
    xFileSize: Some(file_size),
    xLock: Some(raise),
    xUnlock: Some(lower),
    xCheckReservedLock: Some(check_reserved_lock),
    xFileControl: Some(file_control),
    xSectorSize: Some(sector_size),
    xDeviceCharacteristics: Some(device_characteristics),
    xShmMap: Some(shm_map),
    xShmLock: Some(shm_lock),
    xShmBarrier: Some(shm_barrier),
    xShmUnmap: Some(shm_unmap),
    xFetch: None,
    xUnfetch: None,
};

/// What lies in the `szOsFile` bytes that SQLite sets aside for each file. They begin as its own struct does.
#[repr(C)]
struct OpenFile {
    base: ffi::sqlite3_file,
    /// There from a successful `open` to `close`.
    handle: MaybeUninit<Handle>,
}

// SQLite aligns those bytes for eight.
const _: () = assert!(align_of::<OpenFile>() <= 8);

/// The handle in a file.
///
/// # Safety
/// `file` is one that `open` succeeded on and `close` was not called for, and nobody else uses it while the result lives.
/// That is what SQLite guarantees of the file in every call of `METHODS`: it calls them only where `pMethods` was set, one
/// call at a time for one file, since a file belongs to one connection.
unsafe fn handle<'f>(file: *mut ffi::sqlite3_file) -> &'f mut Handle {
    // SAFETY: by the contract above the bytes are an `OpenFile` whose handle was written by `open`.
    unsafe { (*file.cast::<OpenFile>()).handle.assume_init_mut() }
}

/// The path behind a C string; `None` when there is none or it is not UTF-8, which no path of a disk is.
///
/// # Safety
/// `path` is null or ends with a zero, and stays as it is while the result lives.
unsafe fn text<'p>(path: *const c_char) -> Option<&'p str> {
    if path.is_null() {
        return None;
    }
    // SAFETY: not null, and the rest is the contract above.
    unsafe { CStr::from_ptr(path) }.to_str().ok()
}

/// A count or an offset. SQLite passes none that is negative.
fn size(number: impl TryInto<usize>) -> usize {
    number.try_into().unwrap_or(0)
}

fn code(outcome: Outcome) -> c_int {
    match outcome {
        Ok(()) => ffi::SQLITE_OK,
        Err(Refusal::Full) => ffi::SQLITE_FULL,
        Err(Refusal::Busy) => ffi::SQLITE_BUSY,
        Err(Refusal::Missing) => ffi::SQLITE_CANTOPEN,
        Err(Refusal::Short) => ffi::SQLITE_IOERR_SHORT_READ,
        Err(Refusal::Failed(operation)) => match operation {
            Operation::Open => ffi::SQLITE_CANTOPEN,
            Operation::Read => ffi::SQLITE_IOERR_READ,
            Operation::Write => ffi::SQLITE_IOERR_WRITE,
            Operation::Truncate => ffi::SQLITE_IOERR_TRUNCATE,
            Operation::Sync => ffi::SQLITE_IOERR_FSYNC,
            Operation::Delete => ffi::SQLITE_IOERR_DELETE,
            Operation::Map => ffi::SQLITE_IOERR_SHMMAP,
        },
    }
}

unsafe extern "C" fn open(
    _: *mut ffi::sqlite3_vfs,
    path: ffi::sqlite3_filename,
    file: *mut ffi::sqlite3_file,
    flags: c_int,
    flags_out: *mut c_int,
) -> c_int {
    // SAFETY: SQLite passes `szOsFile` writable bytes. Without methods it will not call `close` on them.
    unsafe { (*file).pMethods = ptr::null() };
    let mode = Mode {
        create: flags & ffi::SQLITE_OPEN_CREATE != 0,
        delete_on_close: flags & ffi::SQLITE_OPEN_DELETEONCLOSE != 0,
    };
    let opened = if path.is_null() {
        Handle::temporary()
    } else {
        // SAFETY: SQLite keeps the name as it is at least until the file is closed.
        let path = unsafe { text(path) };
        path.ok_or(Refusal::Missing)
            .and_then(|path| Handle::open(path, mode))
    };
    match opened {
        Ok(handle) => {
            // SAFETY: the same bytes, large and aligned enough for an `OpenFile` (`szOsFile`, and the assertion above).
            // Only now do they hold a handle, and only now have they methods. SQLite's flags_out may be null.
            unsafe {
                (*file.cast::<OpenFile>()).handle.write(handle);
                (*file).pMethods = &raw const METHODS;
                if let Some(out) = flags_out.as_mut() {
                    *out = flags;
                }
            }
            ffi::SQLITE_OK
        }
        Err(refusal) => code(Err(refusal)),
    }
}

unsafe extern "C" fn delete(
    _: *mut ffi::sqlite3_vfs,
    path: *const c_char,
    sync_folder: c_int,
) -> c_int {
    // SAFETY: SQLite passes a path that ends with a zero, and keeps it during the call.
    let Some((disk, name)) = unsafe { text(path) }.and_then(Disk::find) else {
        return ffi::SQLITE_IOERR_DELETE;
    };
    match disk.state().delete(name, sync_folder != 0) {
        Err(Refusal::Missing) => ffi::SQLITE_IOERR_DELETE_NOENT,
        outcome => code(outcome),
    }
}

unsafe extern "C" fn access(
    _: *mut ffi::sqlite3_vfs,
    path: *const c_char,
    _: c_int,
    found: *mut c_int,
) -> c_int {
    // SAFETY: as in `delete`.
    let place = unsafe { text(path) }.and_then(Disk::find);
    let exists = place.is_some_and(|(disk, name)| disk.state().exists(name));
    // SAFETY: SQLite passes a place for the answer.
    unsafe { *found = c_int::from(exists) };
    ffi::SQLITE_OK
}

unsafe extern "C" fn full_pathname(
    _: *mut ffi::sqlite3_vfs,
    path: *const c_char,
    room: c_int,
    out: *mut c_char,
) -> c_int {
    // SAFETY: as in `delete`.
    let path = unsafe { CStr::from_ptr(path) }.to_bytes_with_nul();
    if path.len() > size(room) {
        return ffi::SQLITE_CANTOPEN;
    }
    // SAFETY: `out` has `room` bytes, which are enough, and is not where the path is.
    unsafe { ptr::copy_nonoverlapping(path.as_ptr().cast(), out, path.len()) };
    ffi::SQLITE_OK
}

/// Only ever asked if this VFS is made the default: SQLite seeds its generator from that one.
unsafe extern "C" fn randomness(_: *mut ffi::sqlite3_vfs, len: c_int, out: *mut c_char) -> c_int {
    static DRAWN: AtomicU64 = AtomicU64::new(0);
    // SAFETY: SQLite passes `len` writable bytes.
    let out = unsafe { zeroed(out.cast(), len) };
    Dice::new(DRAWN.fetch_add(1, Ordering::Relaxed)).fill(out);
    len
}

/// Only reached when two connections want one lock. No simulated time passes, and in a simulation nobody else would run;
/// but with threads the holder must get a moment to let go, and SQLite gives up after about a hundred of these.
#[expect(
    clippy::disallowed_methods,
    reason = "no clock says when another thread lets go of a lock"
)]
unsafe extern "C" fn sleep(_: *mut ffi::sqlite3_vfs, micros: c_int) -> c_int {
    let asked = Duration::from_micros(size(micros) as u64);
    std::thread::sleep(asked.min(Duration::from_millis(1)));
    micros
}

unsafe extern "C" fn current_time(_: *mut ffi::sqlite3_vfs, days: *mut c_double) -> c_int {
    // SAFETY: SQLite passes a place for the answer.
    unsafe { *days = NOW as f64 / DAY };
    ffi::SQLITE_OK
}

unsafe extern "C" fn current_time_int64(
    _: *mut ffi::sqlite3_vfs,
    millis: *mut ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: SQLite passes a place for the answer.
    unsafe { *millis = NOW };
    ffi::SQLITE_OK
}

unsafe extern "C" fn last_error(_: *mut ffi::sqlite3_vfs, _: c_int, _: *mut c_char) -> c_int {
    0
}

unsafe extern "C" fn close(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: `open` wrote the handle, SQLite calls `close` once, and takes the bytes back afterwards. Without methods
    // it can do nothing else with them.
    unsafe {
        (*file.cast::<OpenFile>()).handle.assume_init_drop();
        (*file).pMethods = ptr::null();
    }
    ffi::SQLITE_OK
}

/// A buffer of SQLite's, zeroed.
///
/// # Safety
/// `start` has `len` writable bytes that nobody else uses while the result lives.
unsafe fn zeroed<'b>(start: *mut c_void, len: c_int) -> &'b mut [u8] {
    if start.is_null() || len <= 0 {
        return &mut [];
    }
    let start = start.cast::<u8>();
    // SAFETY: not null, any address will do for bytes, and the contract above. SQLite may pass bytes as malloc left them;
    // they are written before a reference to them is made.
    unsafe {
        ptr::write_bytes(start, 0, size(len));
        std::slice::from_raw_parts_mut(start, size(len))
    }
}

unsafe extern "C" fn read(
    file: *mut ffi::sqlite3_file,
    into: *mut c_void,
    len: c_int,
    at: ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: `handle`'s contract, and SQLite passes `len` writable bytes of its own.
    let (handle, into) = unsafe { (handle(file), zeroed(into, len)) };
    code(handle.read(size(at), into))
}

unsafe extern "C" fn write(
    file: *mut ffi::sqlite3_file,
    from: *const c_void,
    len: c_int,
    at: ffi::sqlite3_int64,
) -> c_int {
    if from.is_null() || len <= 0 {
        return ffi::SQLITE_OK;
    }
    // SAFETY: `handle`'s contract, and SQLite passes `len` readable bytes, which it leaves alone during the call.
    let (handle, bytes) = unsafe {
        (
            handle(file),
            std::slice::from_raw_parts(from.cast::<u8>(), size(len)),
        )
    };
    code(handle.write(size(at), bytes))
}

unsafe extern "C" fn truncate(file: *mut ffi::sqlite3_file, len: ffi::sqlite3_int64) -> c_int {
    // SAFETY: `handle`'s contract.
    code(unsafe { handle(file) }.truncate(size(len)))
}

unsafe extern "C" fn sync(file: *mut ffi::sqlite3_file, _: c_int) -> c_int {
    // SAFETY: `handle`'s contract.
    code(unsafe { handle(file) }.sync())
}

unsafe extern "C" fn file_size(
    file: *mut ffi::sqlite3_file,
    len: *mut ffi::sqlite3_int64,
) -> c_int {
    // SAFETY: `handle`'s contract.
    match unsafe { handle(file) }.len() {
        Ok(found) => {
            // SAFETY: SQLite passes a place for the answer.
            unsafe { *len = i64::try_from(found).unwrap_or(i64::MAX) };
            ffi::SQLITE_OK
        }
        Err(_) => ffi::SQLITE_IOERR_FSTAT,
    }
}

unsafe extern "C" fn raise(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    let level = match level {
        ffi::SQLITE_LOCK_SHARED => Level::Shared,
        ffi::SQLITE_LOCK_RESERVED => Level::Reserved,
        ffi::SQLITE_LOCK_PENDING => Level::Pending,
        ffi::SQLITE_LOCK_EXCLUSIVE => Level::Exclusive,
        _ => return ffi::SQLITE_OK,
    };
    // SAFETY: `handle`'s contract.
    match unsafe { handle(file) }.raise(level) {
        Err(Refusal::Failed(_)) => ffi::SQLITE_IOERR_LOCK,
        outcome => code(outcome),
    }
}

unsafe extern "C" fn lower(file: *mut ffi::sqlite3_file, level: c_int) -> c_int {
    let to = (level == ffi::SQLITE_LOCK_SHARED).then_some(Level::Shared);
    // SAFETY: `handle`'s contract.
    unsafe { handle(file) }.lower(to);
    ffi::SQLITE_OK
}

unsafe extern "C" fn check_reserved_lock(
    file: *mut ffi::sqlite3_file,
    reserved: *mut c_int,
) -> c_int {
    // SAFETY: `handle`'s contract.
    match unsafe { handle(file) }.is_reserved() {
        Ok(found) => {
            // SAFETY: SQLite passes a place for the answer.
            unsafe { *reserved = c_int::from(found) };
            ffi::SQLITE_OK
        }
        Err(_) => ffi::SQLITE_IOERR_LOCK,
    }
}

unsafe extern "C" fn file_control(_: *mut ffi::sqlite3_file, _: c_int, _: *mut c_void) -> c_int {
    ffi::SQLITE_NOTFOUND
}

unsafe extern "C" fn sector_size(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: `handle`'s contract.
    let geometry = unsafe { handle(file) }.geometry();
    c_int::try_from(geometry.sector).unwrap_or(0)
}

unsafe extern "C" fn device_characteristics(file: *mut ffi::sqlite3_file) -> c_int {
    // SAFETY: `handle`'s contract.
    let geometry = unsafe { handle(file) }.geometry();
    let powersafe = if geometry.powersafe {
        ffi::SQLITE_IOCAP_POWERSAFE_OVERWRITE
    } else {
        0
    };
    powersafe | ffi::SQLITE_IOCAP_SUBPAGE_READ
}

unsafe extern "C" fn shm_map(
    file: *mut ffi::sqlite3_file,
    index: c_int,
    bytes: c_int,
    extend: c_int,
    out: *mut *mut c_void,
) -> c_int {
    let mapped = if size(bytes) == REGION_BYTES {
        // SAFETY: `handle`'s contract.
        unsafe { handle(file) }.map(size(index), extend != 0)
    } else {
        Err(Refusal::Failed(Operation::Map))
    };
    let (address, outcome) = match mapped {
        Ok(address) => (address.unwrap_or(ptr::null_mut()), Ok(())),
        Err(refusal) => (ptr::null_mut(), Err(refusal)),
    };
    // SAFETY: SQLite passes a place for the answer. The region behind it lives until the handle unmaps or is closed, after
    // which SQLite does not use the address.
    unsafe { *out = address };
    code(outcome)
}

unsafe extern "C" fn shm_lock(
    file: *mut ffi::sqlite3_file,
    first: c_int,
    count: c_int,
    flags: c_int,
) -> c_int {
    // SAFETY: `handle`'s contract.
    let handle = unsafe { handle(file) };
    let (first, count) = (size(first), size(count));
    let outcome = if flags & ffi::SQLITE_SHM_UNLOCK != 0 {
        handle.give_back(first, count);
        Ok(())
    } else if flags & ffi::SQLITE_SHM_SHARED != 0 {
        handle.share(first, count)
    } else {
        handle.take(first, count)
    };
    match outcome {
        Err(Refusal::Failed(_)) => ffi::SQLITE_IOERR_SHMLOCK,
        outcome => code(outcome),
    }
}

unsafe extern "C" fn shm_barrier(_: *mut ffi::sqlite3_file) {
    fence(Ordering::SeqCst);
}

unsafe extern "C" fn shm_unmap(file: *mut ffi::sqlite3_file, _: c_int) -> c_int {
    // SAFETY: `handle`'s contract.
    unsafe { handle(file) }.unmap();
    ffi::SQLITE_OK
}
