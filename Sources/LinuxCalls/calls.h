#pragma once

#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Asks a driver for something; `argument` is what the request says that it is. The result is that of ioctl(2).
static inline int control_device(int file, unsigned long request, void *argument) {
    return ioctl(file, request, argument);
}

/// poll(2) with a timeout in nanoseconds: pollfd[count], timespec, sigset_t. They are pointers to anything since the
/// structures belong to Swift's own module of the system.
extern int ppoll(void *descriptors, unsigned long count, const void *timeout, const void *mask);

/// A counter as a descriptor; takes O_NONBLOCK and O_CLOEXEC.
extern int eventfd(unsigned int count, int flags);

/// Names a thread, in at most 15 octets.
extern int pthread_setname_np(unsigned long thread, const char *name);

/// Whether the caller is the thread that the process began with.
static inline int is_first_thread(void) { return (int)syscall(SYS_gettid) == (int)getpid(); }

/// The descriptor by which Dispatch wakes the run loop that serves the main queue, for Foundation's loop to wait for;
/// weak, since no header of Dispatch promises it.
extern int _dispatch_get_main_queue_handle_4CF(void) __attribute__((weak));

/// That descriptor; -1 where Dispatch has none to tell of.
static inline int main_queue_descriptor(void) {
    return _dispatch_get_main_queue_handle_4CF ? _dispatch_get_main_queue_handle_4CF() : -1;
}

/// Tells the processor that its thread waits for another one without leaving it, for some hundred nanoseconds.
static inline void pause_processor(void) {
    for (int count = 0; count < 20; count++) {
#if defined(__x86_64__) || defined(__i386__)
        __builtin_ia32_pause();
#elif defined(__aarch64__) || defined(__arm__)
        __asm__ volatile("yield");
#endif
    }
}
