# shellcheck shell=sh disable=SC2086  # the command has several words
# srun[:N] - one task of the Slurm allocation per shard.  The directory of the
# recording and the program must be the same on all nodes.  SIGTERM makes srun
# kill its tasks.  SIGINT is passed on to them with --disable-status, so that
# they end their run, once: a second one would kill them.  srun is in a session
# of its own, so that it gets no other signal.
setsid ${TAILGATE_SRUN:-srun} --disable-status --ntasks="$TAILGATE_SHARDS" --kill-on-bad-exit=1 --input=none \
    "$TAILGATE_EXE" shard "$TAILGATE_PLAN" -o "$TAILGATE_OUT" &
srun=$!
trap 'trap : TERM INT HUP; kill -INT "$srun"' TERM INT HUP
while wait "$srun"; status=$?; kill -0 "$srun" 2>/dev/null; do :; done
exit "$status"
