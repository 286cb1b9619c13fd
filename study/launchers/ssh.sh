# shellcheck shell=sh disable=SC2086,SC2029  # commands have several words, and are for the other host
# ssh:HOST,HOST,... - one process on each host.  Hosts need ssh without a
# password, sh, tar and the same version of tailgate; no shared directory.  The
# plan goes to the standard input of the shard, which ends when that does, and
# the recording comes back on its standard output.  Meanwhile the clock of the
# host is compared with ours.
ssh=${TAILGATE_SSH:-ssh -o BatchMode=yes}
remote=${TAILGATE_REMOTE:-tailgate}
shard() {
    host=$(printf '%s' "$TAILGATE_LAUNCH" | cut -d, -f$(($1 + 1)))
    mkfifo "$TAILGATE_OUT/$1.in" || return 1
    exec 9<>"$TAILGATE_OUT/$1.in" # open at both ends, so that it never ends
    rm "$TAILGATE_OUT/$1.in"
    cat "$TAILGATE_PLAN" >&9 &
    "$TAILGATE_EXE" clock --json $ssh "$host" "$remote clock" \
        >"$TAILGATE_OUT/$1.clock" 9>&- &
    clock=$!
    $ssh "$host" "d=\$(mktemp -d) || exit 1; trap 'rm -rf \"\$d\"' EXIT; $remote shard - --shard $1/$TAILGATE_SHARDS -o \"\$d\" >&2 && tar -C \"\$d\" -cf - $1" \
        <&9 | tar -C "$TAILGATE_OUT" -xf - 9>&-
    wait "$clock" || rm -f "$TAILGATE_OUT/$1.clock"
    [ -e "$TAILGATE_OUT/$1/manifest.json" ]
}
each_shard shard
