/* mpi.h - MPI on one machine, with as many ranks as a test asks for.  Its files
 * are in the directory of the test (tmpdir.h), by which its processes are
 * found. */
#ifndef TESTS_SUPPORT_MPI_H
#define TESTS_SUPPORT_MPI_H

#include <stdbool.h>
#include <sys/types.h>

/* Prepare the environment for --launch mpi:N.  False where tailgate was built
 * without MPI, after a message. */
bool mpi_set_up(void);

/* The process of a rank that runs; the test fails if there is none. */
pid_t mpi_rank(int rank);

/* The test fails if a rank is left. */
void mpi_expect_none(void);

#endif
