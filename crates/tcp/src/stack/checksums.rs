//! Checksums of frames: which arriving ones hold, and who fills in those of leaving ones.

use super::TxChecksum;
use crate::pattern::{Payload, fill_pattern};
use crate::turn::{ChecksumState, RxFrame};
use wire::checksum;

//= specs/rfc9293.md#segments
//# A segment with a wrong checksum is dropped in silence.
#[inline]
pub(super) fn checksum_holds(frame: &RxFrame<'_>) -> bool {
    match frame.payload {
        Payload::Bytes(bytes) => checksum::verify(&frame.header, bytes),
        // A described payload has no bytes that could be corrupted.
        Payload::Pattern { .. } => true,
    }
}

#[inline]
pub(super) fn checksum_state(policy: TxChecksum) -> ChecksumState {
    match policy {
        TxChecksum::Compute => ChecksumState::InHeader,
        TxChecksum::Device => ChecksumState::Device,
        TxChecksum::Unneeded => ChecksumState::Unneeded,
    }
}

//= specs/rfc9293.md#segments
//# Every segment leaves with the checksum over pseudo-header, header and payload.
#[inline(always)]
pub(super) fn fill_checksum(policy: TxChecksum, header: &mut [u8], payload: Payload<'_>) -> ChecksumState {
    match (policy, payload) {
        (TxChecksum::Compute, Payload::Bytes(bytes)) => checksum::fill(header, bytes),
        (TxChecksum::Device, _) => checksum::fill_partial(header, payload.len()),
        (TxChecksum::Compute, Payload::Pattern { offset, len }) => {
            let mut bytes = vec![0; len as usize];
            fill_pattern(offset, &mut bytes);
            checksum::fill(header, &bytes);
        }
        (TxChecksum::Unneeded, _) => {}
    }
    checksum_state(policy)
}
