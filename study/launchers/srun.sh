# shellcheck shell=sh
# srun[:N] - one task of the Slurm allocation per shard.  The directory of the
# recording and the program must be the same on all nodes.
exec ${TAILGATE_SRUN:-srun} --ntasks="$TAILGATE_SHARDS" --kill-on-bad-exit=1 --input=none \
    "$TAILGATE_EXE" shard "$TAILGATE_PLAN" -o "$TAILGATE_OUT"
