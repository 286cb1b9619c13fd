# shellcheck shell=sh disable=SC2064  # the value now is meant
# Run "$1 I" for all shards I at the same time.  A signal is left to the shards,
# which end their run and keep what they have, unless the caller has set
# on_signal; if one fails, all end.
on_signal=:
each_shard() {
    trap "$on_signal" TERM INT HUP
    trap 'exit 1' USR1
    pids=
    i=0
    while [ "$i" -lt "$TAILGATE_SHARDS" ]; do
        {
            trap "$on_signal" TERM INT HUP
            "$1" "$i" || kill -USR1 $$ 2>/dev/null
        } &
        pids="$pids $!"
        i=$((i + 1))
    done
    for pid in $pids; do
        while kill -0 "$pid" 2>/dev/null; do
            wait "$pid" || :
        done
    done
}
