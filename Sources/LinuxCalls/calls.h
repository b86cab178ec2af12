#pragma once

#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/// O_PATH of open(2): a descriptor of a place in the tree of files, which needs no permission to read.
static inline int open_place_only(void) { return 010000000; }

/// Asks a driver for something; `argument` is what the request says that it is. The result is that of ioctl(2).
static inline int control_device(int file, unsigned long request, void *argument) {
    return ioctl(file, request, argument);
}

/// poll(2) with a timeout in nanoseconds: pollfd[count], timespec, sigset_t. They are pointers to anything since the
/// structures belong to Swift's own module of the system.
extern int ppoll(void *descriptors, unsigned long count, const void *timeout, const void *mask);

/// A counter as a descriptor; takes O_NONBLOCK and O_CLOEXEC.
extern int eventfd(unsigned int count, int flags);

/// Takes a connection from a socket that listens; the descriptor is non-blocking and closed by exec.
static inline int accept_connection(int socket) {
    const int nonblocking = 04000, closed_by_exec = 02000000;
    return (int)syscall(SYS_accept4, socket, 0, 0, nonblocking | closed_by_exec);
}

/// recv(2) on a Unix socket with SO_PASSCRED: `sender` becomes the process that wrote the octets, 0 if the kernel does
/// not say. Descriptors that were sent along are closed.
///
/// The structures are the kernel's, since those of the C library belong to Swift's own module of the system.
static inline long receive_from_process(int socket, void *octets, unsigned long count, int *sender) {
    const int of_socket = 1, descriptors = 1, credentials = 2, closed_by_exec = 0x40000000;
    struct { void *start; unsigned long size; } part = {octets, count};
    struct { unsigned long size; int level, type, content[4]; } *control, buffer;
    struct {
        void *name;
        unsigned name_size;
        void *parts;
        unsigned long part_count;
        void *control;
        unsigned long control_size;
        int flags;
    } message = {0, 0, &part, 1, &buffer, sizeof buffer, 0};
    long received;
    *sender = 0;
    received = syscall(SYS_recvmsg, socket, &message, closed_by_exec);
    control = &buffer;
    // There is room for one item: the credentials (process, user, group), which come first if they are asked for.
    if (received < 0 || message.control_size < sizeof buffer.size + 8 || control->level != of_socket) return received;
    if (control->type == credentials) {
        *sender = control->content[0];
    } else if (control->type == descriptors) {
        unsigned long index, held = (control->size - 16) / sizeof(int);
        for (index = 0; index < held && index < 4; index++) close(control->content[index]);
    }
    return received;
}

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
