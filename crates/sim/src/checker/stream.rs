//! Stream checker: the reader gets exactly what was written, in order and complete.
//!
//! The receive buffer checks described payload byte by byte and counts mismatches; the receiving application compares moved
//! bytes.

use crate::outcome::Cause;
use crate::topology::Topology;
use tcp::CloseReason;

/// Checks that apply to a flow at any time.
pub(super) fn so_far(topology: &Topology, flow: usize) -> Result<(), Cause> {
    let (sender, receiver) = (topology.sender(flow), topology.receiver(flow));
    let (written, read) = (sender.written(), receiver.reading().bytes());
    let problem = |problem| Err(Cause::Stream { flow, problem });
    if read > written {
        return problem(format!("{read} bytes were read but only {written} written"));
    }
    if let Some(position) = receiver.mismatch() {
        return problem(format!("the byte at position {position} is not the one that was written there"));
    }
    let node = &topology.nodes[topology.flows[flow].receiver.0];
    match receiver.end().outcome(&node.stack).info {
        Some(info) if info.mismatches > 0 => {
            problem(format!("{} bytes of {read} are not those that were written there", info.mismatches))
        }
        _ => Ok(()),
    }
}

/// Checks at the end of the run.
pub(super) fn at_end(topology: &Topology, flow: usize) -> Result<(), Cause> {
    so_far(topology, flow)?;
    let (sender, receiver) = (topology.sender(flow), topology.receiver(flow));
    let (written, read) = (sender.written(), receiver.reading().bytes());
    // The sender's normal end means that the peer acknowledged everything and has closed too.
    let acknowledged = sender.end().closed() == Some(CloseReason::Normal);
    if acknowledged && read < written && !receiver.end().is_unused() {
        let problem = format!("{written} bytes were acknowledged but only {read} read before the end of the stream");
        return Err(Cause::Stream { flow, problem });
    }
    Ok(())
}
