//! Names of options that `libc` does not have (the kernel's include/uapi: linux/tcp.h, linux/in.h).

use libc::c_int;

pub(super) const TCP_TX_DELAY: c_int = 37;
pub(super) const TCP_IS_MPTCP: c_int = 43;
pub(super) const TCP_RTO_MAX_MS: c_int = 44;
pub(super) const TCP_RTO_MIN_US: c_int = 45;
pub(super) const TCP_DELACK_MAX_US: c_int = 46;

pub(super) const IP_RECVERR_RFC4884: c_int = 26;
pub(crate) const IP_LOCAL_PORT_RANGE: c_int = 51;
