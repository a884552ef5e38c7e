//! What a code block can see: `TCP_INFO`, the congestion controller's own values, the socket's memory.

use super::worker::Wait;
use super::{Engine, Failure};
use crate::stack::Call;
use crate::symbols::SO_MEMINFO;
use libc::{SOL_TCP, TCP_CC_INFO, TCP_INFO};

const TCP_INFO_BYTES: u32 = 280;
const TCP_CC_INFO_BYTES: u32 = 20;
const SO_MEMINFO_BYTES: u32 = 36;

/// Fields of `TCP_INFO`: name, offset, bytes. The halves of byte 6 and the bits of byte 7 and of the tail are listed separately.
const INFO: &[(&str, usize, usize)] = &[
    ("tcpi_state", 0, 1),
    ("tcpi_ca_state", 1, 1),
    ("tcpi_retransmits", 2, 1),
    ("tcpi_probes", 3, 1),
    ("tcpi_backoff", 4, 1),
    ("tcpi_options", 5, 1),
    ("tcpi_rto", 8, 4),
    ("tcpi_ato", 12, 4),
    ("tcpi_snd_mss", 16, 4),
    ("tcpi_rcv_mss", 20, 4),
    ("tcpi_unacked", 24, 4),
    ("tcpi_sacked", 28, 4),
    ("tcpi_lost", 32, 4),
    ("tcpi_retrans", 36, 4),
    ("tcpi_fackets", 40, 4),
    ("tcpi_last_data_sent", 44, 4),
    ("tcpi_last_ack_sent", 48, 4),
    ("tcpi_last_data_recv", 52, 4),
    ("tcpi_last_ack_recv", 56, 4),
    ("tcpi_pmtu", 60, 4),
    ("tcpi_rcv_ssthresh", 64, 4),
    ("tcpi_rtt", 68, 4),
    ("tcpi_rttvar", 72, 4),
    ("tcpi_snd_ssthresh", 76, 4),
    ("tcpi_snd_cwnd", 80, 4),
    ("tcpi_advmss", 84, 4),
    ("tcpi_reordering", 88, 4),
    ("tcpi_rcv_rtt", 92, 4),
    ("tcpi_rcv_space", 96, 4),
    ("tcpi_total_retrans", 100, 4),
    ("tcpi_pacing_rate", 104, 8),
    ("tcpi_max_pacing_rate", 112, 8),
    ("tcpi_bytes_acked", 120, 8),
    ("tcpi_bytes_received", 128, 8),
    ("tcpi_segs_out", 136, 4),
    ("tcpi_segs_in", 140, 4),
    ("tcpi_notsent_bytes", 144, 4),
    ("tcpi_min_rtt", 148, 4),
    ("tcpi_data_segs_in", 152, 4),
    ("tcpi_data_segs_out", 156, 4),
    ("tcpi_delivery_rate", 160, 8),
    ("tcpi_busy_time", 168, 8),
    ("tcpi_rwnd_limited", 176, 8),
    ("tcpi_sndbuf_limited", 184, 8),
    ("tcpi_delivered", 192, 4),
    ("tcpi_delivered_ce", 196, 4),
    ("tcpi_bytes_sent", 200, 8),
    ("tcpi_bytes_retrans", 208, 8),
    ("tcpi_dsack_dups", 216, 4),
    ("tcpi_reord_seen", 220, 4),
    ("tcpi_rcv_ooopack", 224, 4),
    ("tcpi_snd_wnd", 228, 4),
    ("tcpi_rcv_wnd", 232, 4),
    ("tcpi_rehash", 236, 4),
    ("tcpi_total_rto", 240, 2),
    ("tcpi_total_rto_recoveries", 242, 2),
    ("tcpi_total_rto_time", 244, 4),
    ("tcpi_received_ce", 248, 4),
    ("tcpi_delivered_e1_bytes", 252, 4),
    ("tcpi_delivered_e0_bytes", 256, 4),
    ("tcpi_delivered_ce_bytes", 260, 4),
    ("tcpi_received_e1_bytes", 264, 4),
    ("tcpi_received_e0_bytes", 268, 4),
    ("tcpi_received_ce_bytes", 272, 4),
];
/// Parts of a byte or word: name, offset, bytes, lowest bit, number of bits.
const INFO_BITS: &[(&str, usize, usize, u32, u32)] = &[
    ("tcpi_snd_wscale", 6, 1, 0, 4),
    ("tcpi_rcv_wscale", 6, 1, 4, 4),
    ("tcpi_delivery_rate_app_limited", 7, 1, 0, 1),
    ("tcpi_fastopen_client_fail", 7, 1, 1, 2),
    ("tcpi_ecn_mode", 276, 4, 0, 2),
    ("tcpi_accecn_opt_seen", 276, 4, 2, 2),
    ("tcpi_accecn_fail_mode", 276, 4, 4, 4),
    ("tcpi_options2", 276, 4, 8, 24),
];
const CONTROLLERS: &[(&str, usize, usize)] = &[
    ("bbr_bw_lo", 0, 4),
    ("bbr_bw_hi", 4, 4),
    ("bbr_bw", 0, 8),
    ("bbr_min_rtt", 8, 4),
    ("bbr_pacing_gain", 12, 4),
    ("bbr_cwnd_gain", 16, 4),
    ("dctcp_enabled", 0, 2),
    ("dctcp_ce_state", 2, 2),
    ("dctcp_alpha", 4, 4),
    ("dctcp_ab_ecn", 8, 4),
    ("dctcp_ab_tot", 12, 4),
    ("tcpv_enabled", 0, 4),
    ("tcpv_rttcnt", 4, 4),
    ("tcp_rtt", 8, 4),
    ("tcp_minrtt", 12, 4),
];
const MEMORY: &[(&str, usize, usize)] = &[
    ("SK_MEMINFO_RMEM_ALLOC", 0, 4),
    ("SK_MEMINFO_RCVBUF", 4, 4),
    ("SK_MEMINFO_WMEM_ALLOC", 8, 4),
    ("SK_MEMINFO_SNDBUF", 12, 4),
    ("SK_MEMINFO_FWD_ALLOC", 16, 4),
    ("SK_MEMINFO_WMEM_QUEUED", 20, 4),
    ("SK_MEMINFO_OPTMEM", 24, 4),
    ("SK_MEMINFO_BACKLOG", 28, 4),
    ("SK_MEMINFO_DROPS", 32, 4),
];
const CONSTANTS: &[(&str, u64)] = &[
    ("TCP_ESTABLISHED", 1),
    ("TCP_SYN_SENT", 2),
    ("TCP_SYN_RECV", 3),
    ("TCP_FIN_WAIT1", 4),
    ("TCP_FIN_WAIT2", 5),
    ("TCP_TIME_WAIT", 6),
    ("TCP_CLOSE", 7),
    ("TCP_CLOSE_WAIT", 8),
    ("TCP_LAST_ACK", 9),
    ("TCP_LISTEN", 10),
    ("TCP_CLOSING", 11),
    ("TCP_CA_Open", 0),
    ("TCP_CA_Disorder", 1),
    ("TCP_CA_CWR", 2),
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
    ("TCPI_OPT_TIMESTAMPS", 1),
    ("TCPI_OPT_SACK", 2),
    ("TCPI_OPT_WSCALE", 4),
    ("TCPI_OPT_ECN", 8),
    ("TCPI_OPT_ECN_SEEN", 16),
    ("TCPI_OPT_SYN_DATA", 32),
    ("TCPI_ECN_MODE_DISABLED", 0),
    ("TCPI_ECN_MODE_RFC3168", 1),
    ("TCPI_ECN_MODE_ACCECN", 2),
    ("TCPI_ECN_MODE_PENDING", 3),
    ("TCP_ACCECN_OPT_NOT_SEEN", 0),
    ("TCP_ACCECN_OPT_EMPTY_SEEN", 1),
    ("TCP_ACCECN_OPT_COUNTER_SEEN", 2),
    ("TCP_ACCECN_OPT_FAIL_SEEN", 3),
    ("TCP_ACCECN_ACE_FAIL_SEND", 1),
    ("TCP_ACCECN_ACE_FAIL_RECV", 2),
    ("TCP_ACCECN_OPT_FAIL_SEND", 4),
    ("TCP_ACCECN_OPT_FAIL_RECV", 8),
];

impl Engine<'_> {
    pub(super) fn code(&mut self, text: &str, line: u32) -> Result<(), Failure> {
        let failure = |what: String| Failure { line, what };
        self.wait("the code block").map_err(failure)?;
        // If an accept() has returned meanwhile, its result determines the descriptor to inspect.
        self.collect(Wait::None)?;
        let fd = self.socket().and_then(|socket| socket.fd);
        let fd = fd.ok_or_else(|| failure("no socket for the code block".into()))?;
        let info = self.option(fd, SOL_TCP, TCP_INFO, TCP_INFO_BYTES).map_err(failure)?;
        let controller = self.option(fd, SOL_TCP, TCP_CC_INFO, TCP_CC_INFO_BYTES).map_err(failure)?;
        let memory = self.option(fd, libc::SOL_SOCKET, SO_MEMINFO, SO_MEMINFO_BYTES).map_err(failure)?;
        for (table, bytes) in [(INFO, &info), (CONTROLLERS, &controller), (MEMORY, &memory)] {
            for &(name, at, length) in table {
                if let Some(value) = native(bytes, at, length) {
                    self.program.set(name, value);
                }
            }
        }
        for &(name, at, length, lowest, bits) in INFO_BITS {
            if let Some(value) = native(&info, at, length) {
                self.program.set(name, value >> lowest & ((1 << bits) - 1));
            }
        }
        CONSTANTS.iter().for_each(|&(name, value)| self.program.set(name, value));
        let outcome = self.program.run(text);
        for line in self.program.printed.drain(..) {
            (self.log)(line);
        }
        outcome.map_err(|(what, offset)| Failure { line: line + offset, what })
    }

    fn option(&self, fd: i32, level: i32, name: i32, length: u32) -> Result<Vec<u8>, String> {
        let mut call = Call::Getsockopt { fd, level, name, value: vec![0; length as usize], length };
        let returned = self.stack.perform(&mut call);
        match call {
            Call::Getsockopt { mut value, length, .. } if returned.value == 0 => {
                value.truncate(length as usize);
                Ok(value)
            }
            _ => Err(format!("getsockopt({level}, {name}) for the code block returned {}", returned.value)),
        }
    }
}

/// A number in the machine's byte order, if the stack wrote that many bytes.
fn native(bytes: &[u8], at: usize, length: usize) -> Option<u64> {
    let field = bytes.get(at..at + length)?;
    let mut wide = [0; 8];
    let from = if cfg!(target_endian = "big") { 8 - length } else { 0 };
    wide[from..from + length].copy_from_slice(field);
    Some(u64::from_ne_bytes(wide))
}
