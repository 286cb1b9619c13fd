/* scripts.h - the files of this folder and packaging/k8s/job.yaml, embedded by
 * the build. */
#ifndef STUDY_LAUNCHERS_SCRIPTS_H
#define STUDY_LAUNCHERS_SCRIPTS_H

extern const char launcher_each[];
extern const char launcher_local[];
extern const char launcher_ssh[];
extern const char launcher_srun[];
extern const char launcher_mpirun[];
extern const char launcher_mpi[];
extern const char launcher_kubectl[];
extern const char launcher_job[];

#endif
