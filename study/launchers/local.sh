# shellcheck shell=sh
# local:N - N processes on this machine.
shard() {
    "$TAILGATE_EXE" shard "$TAILGATE_PLAN" --shard "$1/$TAILGATE_SHARDS" -o "$TAILGATE_OUT"
}
each_shard shard
