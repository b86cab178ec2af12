// Loaded into rootcanal with LD_PRELOAD. It listens on every network interface, which this confines to loopback,
// and writes each event in two pieces, which without TCP_NODELAY costs 40 ms an event (Nagle's algorithm against
// delayed acknowledgements).
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

int bind(int descriptor, const struct sockaddr *address, socklen_t length) {
    int (*next)(int, const struct sockaddr *, socklen_t) = dlsym(RTLD_NEXT, "bind");
    if (address->sa_family != AF_INET) return next(descriptor, address, length);
    struct sockaddr_in loopback = *(const struct sockaddr_in *)address;
    loopback.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return next(descriptor, (struct sockaddr *)&loopback, sizeof loopback);
}

int accept(int descriptor, struct sockaddr *address, socklen_t *length) {
    int (*next)(int, struct sockaddr *, socklen_t *) = dlsym(RTLD_NEXT, "accept");
    int accepted = next(descriptor, address, length), yes = 1;
    if (accepted >= 0) setsockopt(accepted, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    return accepted;
}
