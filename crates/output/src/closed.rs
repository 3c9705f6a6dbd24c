//! Whether the program was started without a standard output, as by `>&-`.

use std::sync::atomic::{AtomicBool, Ordering};

static CLOSED: AtomicBool = AtomicBool::new(false);

/// Whether there was no standard output when the program began. Writing to it then succeeds, into /dev/null.
pub fn stdout_is_closed() -> bool {
    CLOSED.load(Ordering::Relaxed)
}

/// Looks before the standard library opens /dev/null in the place of a closed descriptor, which is before `main`.
#[cfg(target_os = "linux")]
#[allow(unsafe_code, reason = "nothing but a section of the program runs early enough")]
mod early {
    use super::{CLOSED, Ordering};
    use rustix::fd::BorrowedFd;
    use rustix::io::{Errno, fcntl_getfd};

    extern "C" fn look() {
        // SAFETY: the descriptor is only asked about, and the answer may be that it is closed.
        let stdout = unsafe { BorrowedFd::borrow_raw(1) };
        CLOSED.store(fcntl_getfd(stdout) == Err(Errno::BADF), Ordering::Relaxed);
    }

    // SAFETY: the function takes nothing, and uses nothing that begins later.
    #[used]
    #[unsafe(link_section = ".init_array")]
    static LOOK: extern "C" fn() = look;
}
