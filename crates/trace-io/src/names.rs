//! Names of our events elsewhere: the tasks and fields of Windows' TCP/IP provider for ETW, the tracepoints and counters of
//! Linux, and qlog. `docs/events.md` is generated from this table, and qlog files use its third part.
//!
//! Sources: manifests of Microsoft-Windows-TCPIP, which list identifiers, tasks and fields; `include/trace/events/tcp.h` and
//! `struct tcp_info` of Linux; draft-ietf-quic-qlog-main-schema and draft-ietf-quic-qlog-quic-events. qlog has no events of TCP:
//! those here have a separate schema, with QUIC's names where they mean the same.

/// An event of ours under other names.
#[derive(Clone, Copy, Debug)]
pub struct Names {
    /// Its name here.
    pub event: &'static str,
    /// In qlog files, behind `tcp:`.
    pub qlog: &'static str,
    /// In Linux; empty if there is no equivalent.
    pub linux: &'static str,
    /// In Windows; the same event may be several tasks.
    pub etw: &'static [Task],
}

/// A task of the provider.
#[derive(Clone, Copy, Debug)]
pub struct Task {
    /// Number of the event.
    pub id: &'static str,
    /// Name of the task.
    pub name: &'static str,
    /// Condition under which our event is this task, if not always.
    pub when: &'static str,
    /// Our field and theirs.
    pub fields: &'static [(&'static str, &'static str)],
}

const fn task(
    id: &'static str,
    name: &'static str,
    when: &'static str,
    fields: &'static [(&'static str, &'static str)],
) -> Task {
    Task { id, name, when, fields }
}

const LOSS_SEND: &[(&str, &str)] = &[("len", "BytesToSend"), ("seq", "SndNxt")];

/// Every event of the vocabulary, in its order.
pub const NAMES: &[Names] = &[
    Names { event: "StateChanged", qlog: "connection_state_updated", linux: "sock:inet_sock_set_state", etw: &[] },
    Names {
        event: "SegmentSent",
        qlog: "segment_sent",
        linux: "tcp:tcp_retransmit_skb for what is sent again, tcp:tcp_send_reset",
        etw: &[
            task(
                "1332",
                "TcpDataTransferSend",
                "cause=new",
                &[("seq", "SeqNo"), ("len", "BytesSent"), ("window", "RcvWnd")],
            ),
            task("1418", "TcpLossRecoverySend", "cause=fast_retransmit", LOSS_SEND),
            task("1419", "TcpLossRecoverySend", "cause=sack_retransmit", LOSS_SEND),
            task("1420", "TcpLossRecoverySend", "cause=limited_transmit", LOSS_SEND),
            task("1421", "TcpLossRecoverySend", "cause=additional", LOSS_SEND),
            task("1187", "TcpDataTransferRestransmit", "cause=timeout", &[("retransmit", "RexmitCount")]),
            task("1385", "TcpTailLossProbe", "cause=tail_probe", &[("seq", "TailProbeSeq")]),
            task("1186", "TcpConnectRestransmit", "cause=syn, retransmit>0", &[("retransmit", "RexmitCount")]),
        ],
    },
    Names { event: "SegmentReceived", qlog: "segment_received", linux: "tcp:tcp_probe", etw: &[] },
    Names {
        event: "BlockReceived",
        qlog: "sack_block_received",
        linux: "",
        etw: &[task("1547", "TcpReceiveSackBlock", "", &[("range", "SLE, SRE")])],
    },
    Names {
        event: "SackReceived",
        qlog: "sack_received",
        linux: "tcpi_sacked, tcpi_dsack_dups; counters TCPDSACKRecv, TCPDSACKIgnored…",
        etw: &[task(
            "1548",
            "TcpReceiveSack",
            "",
            &[
                ("ack", "Ack"),
                ("snd_una", "SndUna"),
                ("snd_nxt", "SndMax"),
                ("blocks", "NumSackBlocks"),
                ("dsacks", "DSackCount"),
                ("news", "NewSackInfo"),
                ("sacked", "SackedBytes"),
                ("newly_sacked", "NewSackedBytes"),
                ("lost", "LossDetected"),
                ("in_recovery", "InRecovery"),
                ("point", "RecoveryMax"),
            ],
        )],
    },
    Names {
        event: "AckProcessed",
        qlog: "packets_acked",
        linux: "tcp:tcp_probe {snd_una, snd_cwnd, srtt}",
        etw: &[task(
            "1330",
            "TcpDataTransferCumAck",
            "acked>0",
            &[("ack", "SeqNo"), ("acked", "BytesAcked"), ("cwnd", "Cwnd")],
        )],
    },
    Names {
        event: "RateSampled",
        qlog: "delivery_rate_updated",
        linux: "tcpi_delivery_rate, tcpi_delivery_rate_app_limited",
        etw: &[task("1583", "TcpBbr2", "", &[("rate", "bbr_bw")])],
    },
    Names {
        event: "SegmentLost",
        qlog: "packet_lost",
        linux: "counters TCPLostRetransmit, TCPSackFailures…",
        etw: &[task(
            "1552",
            "TcpSendTrackerDetectLoss",
            "",
            &[("range", "Start, End"), ("sent_at", "Timestamps"), ("retransmits", "EverRetransmitted")],
        )],
    },
    Names {
        event: "ReorderingSeen",
        qlog: "reordering_detected",
        linux: "tcpi_reordering, tcpi_reord_seen; counter TCPSACKReorder",
        etw: &[task(
            "1566",
            "TcpSendTrackerSackReorderingDetected",
            "",
            &[("max_extent", "MaxReorderingBytes"), ("fack", "Fack"), ("end", "EndSeq")],
        )],
    },
    Names {
        event: "TimerArmed",
        qlog: "timer_updated",
        linux: "icsk_pending",
        etw: &[
            task(
                "1064",
                "TcpTcbStartTimer",
                "",
                &[("kind", "TimerType"), ("fires_at", "WaitTimeMilliseconds, from now")],
            ),
            task("1546", "TcpArmRackTimer", "kind=reorder", &[("fires_at", "DeltaTicks, from now")]),
            task("1385", "TcpTailLossProbe", "kind=tail_probe", &[("kind", "TlpEvent=TimerArmed")]),
        ],
    },
    Names {
        event: "TimerFired",
        qlog: "timer_updated",
        linux: "counters TCPTimeouts, TCPLossProbes; timer:timer_expire_entry",
        etw: &[
            task("1066", "TcpTcbExpireTimer", "", &[("kind", "TimerType")]),
            task("1545", "TcpRackTimeout", "kind=reorder", &[]),
            task("1386", "TcpTailLossProbe", "kind=tail_probe", &[("kind", "TlpEvent=TimerFired")]),
        ],
    },
    Names {
        event: "EpisodeChanged",
        qlog: "congestion_state_updated",
        linux: "tcp:tcp_cong_state_set {cong_state}",
        etw: &[
            task("1565", "TcpCongestionStateChange", "", &[("from", "OldState"), ("to", "NewState")]),
            task("1415", "TcpEarlyRetransmit", "to=recovery", &[("cause", "FACK or RACK, in the message")]),
            task("1080", "TcpLossRecoverySackEntry", "to=recovery", &[("cause", "Reason"), ("point", "SndMax")]),
            task("1081", "TcpLossRecoverySackExit", "from=recovery", &[("cause", "Reason")]),
        ],
    },
    Names { event: "ProbeAnswered", qlog: "probe_answered", linux: "counter TCPLossProbeRecovery", etw: &[] },
    Names {
        event: "Undone",
        qlog: "reduction_undone",
        linux: "counters TCPDSACKUndo, TCPFullUndo, TCPSpuriousRTOs",
        etw: &[task("1088", "TcpSpuriousRtoDetectionEnd", "proof=frto", &[])],
    },
    Names {
        event: "CcSnapshot",
        qlog: "recovery_metrics_updated",
        linux: "tcp:tcp_probe {snd_cwnd, ssthresh, snd_wnd}; tcpi_snd_cwnd, tcpi_snd_ssthresh, tcpi_pacing_rate",
        etw: &[
            task("1429", "TcpCubicDataTransferCumAck", "", &[("cwnd", "Cwnd"), ("snd_wnd", "SndWnd")]),
            task("1430", "TcpCubicDataTransferDupAck", "", &[("ssthresh", "SSThresh")]),
            task("1332", "TcpDataTransferSend", "", &[("pacing", "PacingRate, in bytes a millisecond")]),
        ],
    },
    Names {
        event: "SlowStartPhase",
        qlog: "congestion_state_updated",
        linux: "",
        etw: &[task("1475", "TcpCubicHystartStateChange", "", &[("phase", "State"), ("cwnd", "Cwnd")])],
    },
    Names {
        event: "SlowStartExited",
        qlog: "congestion_state_updated",
        linux: "counters TCPHystartTrainDetect, TCPHystartDelayDetect",
        etw: &[task("1350", "TcpSlowStartToCongestionAvoidance", "", &[("cwnd", "Cwnd")])],
    },
    Names {
        event: "ReorderingWindow",
        qlog: "reordering_window_updated",
        linux: "rack.reo_wnd_steps, rack.reo_wnd_persist, rack.dsack_seen in struct tcp_sock",
        etw: &[task(
            "1577",
            "TcpSendTrackerUpdateReoWnd",
            "",
            &[
                ("reo_wnd", "Reownd"),
                ("multiplier", "Multiplier"),
                ("persist", "Persist"),
                ("seen", "ReorderingSeen"),
                ("dsack", "DSackSeenOnLatestAck"),
                ("in_recovery", "InLossRecovery"),
                ("round", "DSackRound, DSackRoundValid"),
            ],
        )],
    },
    Names {
        event: "RttUpdated",
        qlog: "recovery_metrics_updated",
        linux: "tcp:tcp_probe {srtt}; tcpi_rtt, tcpi_rttvar, tcpi_rto, tcpi_min_rtt",
        etw: &[task(
            "1341",
            "TcpDataTransferRttSample",
            "",
            &[("sample", "RttSample"), ("srtt", "SRTT"), ("rttvar", "RttVar")],
        )],
    },
    Names {
        event: "Limited",
        qlog: "limit_updated",
        linux: "tcpi_busy_time, tcpi_rwnd_limited, tcpi_sndbuf_limited",
        etw: &[],
    },
    Names {
        event: "ReceiveBuffer",
        qlog: "receive_buffer_updated",
        linux: "tcp:tcp_rcv_space_adjust; tcp:tcp_rcvbuf_grow",
        etw: &[task("1092–1097", "TcpAutoTuning…", "", &[("bytes", "BufferSize")])],
    },
    Names { event: "Dropped", qlog: "segment_dropped", linux: "skb:kfree_skb {reason}", etw: &[] },
    Names { event: "HopQueued", qlog: "network_queued", linux: "qdisc:qdisc_enqueue", etw: &[] },
    Names { event: "HopReordered", qlog: "network_reordered", linux: "", etw: &[] },
    Names { event: "HopDropped", qlog: "network_dropped", linux: "qdisc:qdisc_drop, in newer kernels", etw: &[] },
];

/// Fields that qlog has a name for: event, field, name there.
const QLOG_FIELDS: &[(&str, &str, &str)] = &[
    ("StateChanged", "from", "old"),
    ("StateChanged", "to", "new"),
    ("EpisodeChanged", "from", "old"),
    ("EpisodeChanged", "to", "new"),
    ("EpisodeChanged", "cause", "trigger"),
    ("SlowStartPhase", "phase", "new"),
    ("SlowStartExited", "cause", "trigger"),
    ("SegmentSent", "cause", "trigger"),
    ("SegmentLost", "by", "trigger"),
    ("Dropped", "reason", "trigger"),
    ("TimerArmed", "kind", "timer_type"),
    ("TimerFired", "kind", "timer_type"),
    ("CcSnapshot", "cwnd", "congestion_window"),
    ("CcSnapshot", "pipe", "bytes_in_flight"),
    ("CcSnapshot", "pacing", "pacing_rate"),
    ("AckProcessed", "cwnd", "congestion_window"),
    ("AckProcessed", "pipe", "bytes_in_flight"),
    ("RttUpdated", "sample", "latest_rtt"),
    ("RttUpdated", "srtt", "smoothed_rtt"),
    ("RttUpdated", "rttvar", "rtt_variance"),
];

/// What qlog calls a field of an event.
pub fn qlog_field(event: &str, field: &'static str) -> &'static str {
    let found = QLOG_FIELDS.iter().find(|(of, name, _)| *of == event && *name == field);
    found.map_or(field, |(_, _, name)| name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use trace::{FieldInfo, VOCABULARY};

    #[test]
    fn every_event_has_its_line_and_every_line_names_fields_that_are() {
        assert_eq!(NAMES.len(), VOCABULARY.len());
        for (names, info) in NAMES.iter().zip(VOCABULARY) {
            assert_eq!(names.event, info.name);
            let known = |field: &str| info.fields.iter().any(|known| known.name == field);
            for task in names.etw {
                assert!(task.fields.iter().all(|(field, _)| known(field)), "{}: {}", info.name, task.name);
                for (field, label) in task.when.split(", ").filter_map(|condition| condition.split_once('=')) {
                    let has_label = |known: &FieldInfo| known.name == field && known.names.contains(&label);
                    assert!(info.fields.iter().any(has_label), "{}: {field}={label}", info.name);
                }
            }
        }
        for (event, field, _) in QLOG_FIELDS {
            let info = VOCABULARY.iter().find(|info| info.name == *event).unwrap_or_else(|| panic!("{event}"));
            assert!(info.fields.iter().any(|known| known.name == *field), "{event}: {field}");
        }
    }

    #[test]
    fn renamed_fields_do_not_collide() {
        for info in VOCABULARY {
            let mut names: Vec<&str> = info.fields.iter().map(|field| qlog_field(info.name, field.name)).collect();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), info.fields.len(), "{}", info.name);
        }
    }
}
