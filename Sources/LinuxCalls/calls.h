#pragma once

#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/// Returns O_PATH, the flag with which open(2) only locates a file; this needs no permission to read the file.
static inline int open_place_only(void) { return 010000000; }

/// Sends a request to a driver, as ioctl(2) does. The request determines the type of `argument`.
static inline int control_device(int file, unsigned long request, void *argument) {
    return ioctl(file, request, argument);
}

/// Waits like poll(2), with a timeout in nanoseconds. The pointers are to pollfd[count], timespec and sigset_t; they
/// are untyped because these structures belong to Swift's own module for the C library.
extern int ppoll(void *descriptors, unsigned long count, const void *timeout, const void *mask);

/// Creates a descriptor for a counter; `flags` may contain O_NONBLOCK and O_CLOEXEC.
extern int eventfd(unsigned int count, int flags);

/// Sets an extended attribute of an open file, as fsetxattr(2) does.
static inline int set_attribute(int file, const char *name, const void *value, unsigned long size) {
    return (int)syscall(SYS_fsetxattr, file, name, value, size, 0);
}

/// Accepts a connection on a listening socket. The new descriptor is non-blocking, and exec closes it.
static inline int accept_connection(int socket) {
    const int nonblocking = 04000, closed_by_exec = 02000000;
    return (int)syscall(SYS_accept4, socket, 0, 0, nonblocking | closed_by_exec);
}

/// Receives octets like recv(2), on a Unix socket with SO_PASSCRED. Sets `sender` to the process that wrote the octets,
/// or to 0 if the kernel does not say. Closes descriptors that were sent along with the octets.
///
/// The structures are declared here as the kernel defines them, because those of the C library belong to Swift's own
/// module for it.
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
    // There is room for one control message: the credentials (process, user, group), which come first on such a socket.
    if (received < 0 || message.control_size < sizeof buffer.size + 8 || control->level != of_socket) return received;
    if (control->type == credentials) {
        *sender = control->content[0];
    } else if (control->type == descriptors) {
        unsigned long index, held = (control->size - 16) / sizeof(int);
        for (index = 0; index < held && index < 4; index++) close(control->content[index]);
    }
    return received;
}

/// Sets the name of a thread, which has at most 15 octets.
extern int pthread_setname_np(unsigned long thread, const char *name);

/// Returns 1 if the calling thread is the main thread of the process, otherwise 0.
static inline int is_first_thread(void) { return (int)syscall(SYS_gettid) == (int)getpid(); }

/// Returns the descriptor by which Dispatch wakes the run loop that serves the main queue. Foundation's run loop waits
/// for it. The symbol is weak, because no header of Dispatch promises it.
extern int _dispatch_get_main_queue_handle_4CF(void) __attribute__((weak));

/// Returns the descriptor that wakes the main queue's run loop; -1 if this version of Dispatch does not offer it.
static inline int main_queue_descriptor(void) {
    return _dispatch_get_main_queue_handle_4CF ? _dispatch_get_main_queue_handle_4CF() : -1;
}
