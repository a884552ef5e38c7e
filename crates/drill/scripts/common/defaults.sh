#!/bin/sh
# Settings that scripts can rely on, whatever the machine's own are. Runs inside the namespace of one script.
set -e
cd /proc/sys/net/ipv4

# A setting that this kernel does not have keeps its built-in meaning.
put() { if [ -w "$1" ]; then echo "$2" > "$1"; fi; }

# Buffers: least, initial, most.
put tcp_rmem '4096 540000 15728640'
put tcp_wmem '4096 262144 4194304'

# Options of a SYN.
put tcp_timestamps 1
put tcp_sack 1
put tcp_dsack 1
put tcp_window_scaling 1
put tcp_ecn 0

# Recovery.
put tcp_frto 2
put tcp_reordering 3
put tcp_early_retrans 4
put tcp_recovery 1
put tcp_syn_retries 5
put tcp_synack_retries 5

# Sending.
# A machine may keep CUBIC from namespaces; then the standard's own is the next best, and never a model-based one.
put tcp_congestion_control cubic 2> /dev/null || put tcp_congestion_control reno
put tcp_slow_start_after_idle 0
put tcp_tso_win_divisor 3
put tcp_pacing_ss_ratio 200
put tcp_pacing_ca_ratio 120
put tcp_notsent_lowat 4294967295
put tcp_no_metrics_save 1

# Opening.
put tcp_fastopen 0x3
put tcp_fastopen_key a1a1a1a1-b2b2b2b2-c3c3c3c3-d4d4d4d4
put tcp_syncookies 1

# A queue without pacing. The device is absent where a script runs without one.
tc qdisc replace dev tun0 root pfifo 2> /dev/null || true
