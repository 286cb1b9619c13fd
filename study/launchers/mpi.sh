# shellcheck shell=sh
# mpi:N - N ranks, which stay for all recordings of a study.  The directory of
# the recording and the programs must be the same on all hosts.  By srun:
# TAILGATE_MPIRUN='srun --mpi=pmix --input=0'.  Threads are placed by us, and
# when a rank dies the others are to complete their recordings.  mpirun and its
# daemons notice within 4 s that the link between them is gone: a daemon on a
# host that was cut off must not stay there.
export OMPI_MCA_hwloc_base_binding_policy="${OMPI_MCA_hwloc_base_binding_policy-none}"
export OMPI_MCA_orte_enable_recovery="${OMPI_MCA_orte_enable_recovery-1}"
export OMPI_MCA_oob_tcp_keepalive_time="${OMPI_MCA_oob_tcp_keepalive_time-1}"
export OMPI_MCA_oob_tcp_keepalive_intvl="${OMPI_MCA_oob_tcp_keepalive_intvl-1}"
export OMPI_MCA_oob_tcp_keepalive_probes="${OMPI_MCA_oob_tcp_keepalive_probes-3}"
exec ${TAILGATE_MPIRUN:-mpirun} -n "$TAILGATE_SHARDS" "$TAILGATE_EXE-mpi"
