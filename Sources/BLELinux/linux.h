/*
 * Calls of Linux that Swift's Glibc module leaves out, since they are no part of POSIX. Structures are pointers to
 * anything here: they belong to the Glibc module.
 */
#ifndef BLE_LINUX_H
#define BLE_LINUX_H

/* poll(), with a timeout in nanoseconds: pollfd[count], timespec, sigset_t. */
extern int ppoll(void *descriptors, unsigned long count, const void *timeout, const void *mask);

/* A counter as a descriptor; takes O_NONBLOCK and O_CLOEXEC. */
extern int eventfd(unsigned int count, int flags);

/* Names a thread, in at most 15 octets. */
extern int pthread_setname_np(unsigned long thread, const char *name);

#endif
