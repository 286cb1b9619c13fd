#include "ranks/link.h"

#include <mpi.h>
#include <stdlib.h>
#include <string.h>

#include "common/base/err.h"
#include "common/base/xalloc.h"
#include "study/launch/rank_talk.h"

#define TAG 1

struct sending {
    struct sending *next;
    MPI_Request request;
    struct talk talk;
};

int link_open(struct link *l, struct err *err)
{
    int level = 0;

    *l = (struct link){0};
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_FUNNELED, &level) !=
            MPI_SUCCESS ||
        level < MPI_THREAD_FUNNELED)
        return err_set(err, ERR_IO, "MPI cannot be used next to threads");
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_rank(MPI_COMM_WORLD, &l->rank);
    MPI_Comm_size(MPI_COMM_WORLD, &l->size);
    return 0;
}

/* Also what never will. */
void link_settle(struct link *l)
{
    struct sending **at = &l->sending;

    while (*at) {
        struct sending *s = *at;
        int is_over = 0;

        if (MPI_Test(&s->request, &is_over, MPI_STATUS_IGNORE) == MPI_SUCCESS &&
            !is_over) {
            at = &s->next;
            continue;
        }
        *at = s->next;
        l->n_sending--;
        free(s);
    }
}

void link_send(struct link *l, int to, const struct talk *talk)
{
    struct sending *s = xcalloc(1, sizeof(*s));
    size_t size = talk_size(talk->kind);

    /* NOLINTBEGIN(clang-analyzer-optin.mpi.MPI-Checker): link_settle() tests
     * them
     */
    memcpy(&s->talk, talk, size);
    if (MPI_Isend(&s->talk, (int)size, MPI_BYTE, to, TAG, MPI_COMM_WORLD,
                  &s->request) != MPI_SUCCESS) {
        free(s);
        return;
    }
    s->next = l->sending;
    l->sending = s;
    l->n_sending++;
}
/* NOLINTEND(clang-analyzer-optin.mpi.MPI-Checker) */

bool link_receive(struct talk *talk)
{
    MPI_Message message;
    MPI_Status status;
    int has_come = 0;

    if (MPI_Improbe(MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &has_come, &message,
                    &status) != MPI_SUCCESS ||
        !has_come)
        return false;
    *talk = (struct talk){0};
    return MPI_Mrecv(talk, sizeof(*talk), MPI_BYTE, &message, &status) ==
           MPI_SUCCESS;
}

void link_close(struct link *l)
{
    MPI_Finalize();
    while (l->sending) {
        struct sending *next = l->sending->next;

        free(l->sending);
        l->sending = next;
    }
}
