# shellcheck shell=sh
# mpirun:N - one process of mpirun per shard; no MPI call is made.  The directory
# of the recording and the program must be the same on all hosts.  A host file:
# TAILGATE_MPIRUN='mpirun --hostfile hosts'.  By default Open MPI binds each of
# one or two processes to one core, so that a shard would have one thread.
exec ${TAILGATE_MPIRUN:-mpirun} --bind-to none -n "$TAILGATE_SHARDS" \
    "$TAILGATE_EXE" shard "$TAILGATE_PLAN" -o "$TAILGATE_OUT"
