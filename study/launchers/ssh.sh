# shellcheck shell=sh disable=SC2086,SC2029  # commands have several words, and are for the other host
# ssh:HOST,HOST,... - one process on each host.  Hosts need ssh without a
# password, sh, tar and the same version of tailgate; no shared directory.  The
# plan goes to the standard input of the shard, which ends when that does, and
# the recording comes back on its standard output.  A signal closes the shard's
# standard input, which ends the run there; ssh itself is in a session of its own
# and does not get it, so the recording can still come back.  Meanwhile the clock
# of the host is compared with ours.
ssh=${TAILGATE_SSH:-ssh -o BatchMode=yes}
remote=${TAILGATE_REMOTE:-tailgate}
shard() {
    host=$(printf '%s' "$TAILGATE_LAUNCH" | cut -d, -f$(($1 + 1)))
    mkfifo -m 600 "$TAILGATE_OUT/$1.in" || return 1
    # shellcheck disable=SC2094  # 9 is open at both ends, so that 8 does not end
    exec 9<>"$TAILGATE_OUT/$1.in" 8<"$TAILGATE_OUT/$1.in"
    rm "$TAILGATE_OUT/$1.in"
    cat "$TAILGATE_PLAN" >&9 8<&- &
    "$TAILGATE_EXE" clock --json $ssh "$host" "$remote clock" \
        >"$TAILGATE_OUT/$1.clock" 8<&- 9>&- &
    clock=$!
    {
        trap : TERM INT HUP
        setsid $ssh "$host" "d=\$(mktemp -d) || exit 1; trap 'rm -rf \"\$d\"' EXIT; $remote shard - --shard $1/$TAILGATE_SHARDS -o \"\$d\" >&2; [ ! -e \"\$d/$1\" ] || tar -C \"\$d\" -cf - $1" \
            <&8 8<&- | {
            trap '' TERM INT HUP
            # Nothing comes from a shard that failed, which has said why.
            LC_ALL=C tar -C "$TAILGATE_OUT" -xf - 2>&1 |
                grep -v -e 'does not look like a tar archive' -e 'Exiting with failure status' >&2
        }
    } 9>&- &
    run=$!
    exec 8<&-
    while kill -0 "$run" 2>/dev/null; do
        wait "$run" || :
    done
    wait "$clock" || rm -f "$TAILGATE_OUT/$1.clock"
    [ -e "$TAILGATE_OUT/$1/manifest.json" ]
}
# shellcheck disable=SC2034  # each_shard runs it
on_signal='exec 9>&-'
each_shard shard
