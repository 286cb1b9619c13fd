/* regex_size.h - how large a POSIX extended expression becomes when it is
 * compiled: what is repeated is copied, and copies of copies multiply.
 * "a++++++++++++++++++++++++++++++" takes gigabytes. */
#ifndef COMMON_BASE_REGEX_SIZE_H
#define COMMON_BASE_REGEX_SIZE_H

/* About as many parts, at least 1; INFINITY where it is nested too deeply to
 * tell.  Whether it is an expression at all is not looked at.  Pure. */
double regexsize_of(const char *text);

#endif
