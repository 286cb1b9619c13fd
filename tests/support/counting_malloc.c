/* A library for LD_PRELOAD that counts calls of malloc, calloc and realloc by
 * thread.  When the program ends it writes them to the file that
 * COUNTING_MALLOC names, a line a thread: "loop" if the thread has waited in
 * epoll_wait(), as libevent does, or "other"; then the count.
 *
 * Everything passes here: libevent, jansson and libc itself (strdup, fopen ...)
 * allocate by these names, so that event_set_mem_functions() is not needed.
 * The aligned variants are not counted; nothing that we run calls them.  The
 * work is done by glibc under its internal names: finding the public ones would
 * take a dlsym(), which may itself allocate. */
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <unistd.h>

#define MAX_THREADS 64

/* NOLINTBEGIN(bugprone-reserved-identifier) */
void *__libc_malloc(size_t size);
void *__libc_calloc(size_t nmemb, size_t size);
void *__libc_realloc(void *ptr, size_t size);
/* NOLINTEND(bugprone-reserved-identifier) */

/* Written by its own thread, read at the end. */
struct thread {
    atomic_llong count;
    atomic_bool is_loop;
};

static struct thread threads[MAX_THREADS];
static atomic_int n_threads;

/* initial-exec, because reaching it must not allocate. */
static _Thread_local struct thread *mine
    __attribute__((tls_model("initial-exec")));

static struct thread *this_thread(void)
{
    if (!mine) {
        int i = atomic_fetch_add(&n_threads, 1);

        /* Those beyond the table share its last entry. */
        mine = &threads[i < MAX_THREADS ? i : MAX_THREADS - 1];
    }
    return mine;
}

void *malloc(size_t size)
{
    atomic_fetch_add(&this_thread()->count, 1);
    return __libc_malloc(size);
}

void *calloc(size_t nmemb, size_t size)
{
    atomic_fetch_add(&this_thread()->count, 1);
    return __libc_calloc(nmemb, size);
}

void *realloc(void *ptr, size_t size)
{
    atomic_fetch_add(&this_thread()->count, 1);
    return __libc_realloc(ptr, size);
}

int epoll_wait(int epfd, struct epoll_event *events, int maxevents, int timeout)
{
    atomic_store(&this_thread()->is_loop, true);
    return epoll_pwait(epfd, events, maxevents, timeout, NULL);
}

__attribute__((destructor)) static void write_counts(void)
{
    const char *path = getenv("COUNTING_MALLOC");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    int n = atomic_load(&n_threads);

    if (fd < 0)
        return;
    for (int i = 0; i < n && i < MAX_THREADS; i++)
        dprintf(fd, "%s %lld\n",
                atomic_load(&threads[i].is_loop) ? "loop" : "other",
                atomic_load(&threads[i].count));
    close(fd);
}
