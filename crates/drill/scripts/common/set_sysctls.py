#!/bin/sh
# Sets files below /proc/sys: set_sysctls.py PATH=VALUE...; and leaves a command that puts the old values back.
# Public scripts call it by this name; there is no Python in it, because starting one for each script takes longer than the
# script.
set -e
restore=/tmp/sysctl_restore_${PACKETDRILL_PID:-0}.sh
echo '#!/bin/sh' > "$restore"
chmod u+x "$restore"
for setting in "$@"; do
    path=${setting%%=*}
    value=${setting#*=}
    echo "echo '$(cat "$path")' > $path" >> "$restore"
    echo "$value" > "$path"
done
# The command removes itself: each run has one of its own.
echo 'rm -f "$0"' >> "$restore"
