/* replay.h - settings that replay a trace of a test's own. */
#ifndef TESTS_SUPPORT_REPLAY_H
#define TESTS_SUPPORT_REPLAY_H

#include "common/settings/settings.h"

/* The first line of such a file. */
#define REPLAY_HEADER "timestamp,input_length,output_length\n"

/* A file of this text in the test's directory (tmpdir.h) is replayed. */
struct load_settings replay_of(const char *text);
void replay_forget(struct load_settings *load);

#endif
