// Makes a controller that is at the other end of a byte stream an adapter of this kernel.
//
//     vhci-bridge DEVICE
//
// DEVICE, a virtio port, carries HCI packets in the H4 format back to back. /dev/vhci takes exactly one packet with
// each write, and gives exactly one with each read.
//
// SIGUSR1 pulls the adapter out of the kernel, at the end of a packet, and SIGUSR2 puts it back. A controller that is
// pulled out has no power, so that it is reset, and what it says meanwhile is lost.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { H4_COMMAND = 1, H4_ACL = 2, H4_SCO = 3, H4_EVENT = 4, H4_ISO = 5, H4_VENDOR = 0xff };

// How long the packet that begins at `p` is: 0 if `n` octets do not tell yet, -1 if it is none.
static int packet_length(const uint8_t *p, int n) {
    if (n < 1) return 0;
    switch (p[0]) {
    case H4_COMMAND:
    case H4_SCO: return n < 4 ? 0 : 4 + p[3];
    case H4_ACL: return n < 5 ? 0 : 5 + (p[3] | p[4] << 8);
    case H4_EVENT: return n < 3 ? 0 : 3 + p[2];
    case H4_ISO: return n < 5 ? 0 : 5 + ((p[3] | p[4] << 8) & 0x3fff);
    }
    return -1;
}

static int write_all(int file, const uint8_t *p, int n) {
    while (n > 0) {
        int written = write(file, p, n);
        if (written < 0 && (errno == EINTR || errno == EAGAIN)) {
            usleep(1000);
            continue;
        }
        if (written <= 0) return -1;
        p += written;
        n -= written;
    }
    return 0;
}

// Gives the kernel the packets that are complete; returns how many octets of the next there are, -1 if it is none.
static int deliver(int kernel, uint8_t *p, int n) {
    int at = 0, length;
    while ((length = packet_length(p + at, n - at)) > 0 && length <= n - at) {
        if (kernel >= 0 && write(kernel, p + at, length) != length) perror("/dev/vhci");
        at += length;
    }
    memmove(p, p + at, n - at);
    return length < 0 ? -1 : n - at;
}

// Linux sends HCI Write Authenticated Payload Timeout whenever a link was encrypted. rootcanal announces the command
// and aborts when it comes, so that it is answered here.
static int answered_here(int kernel, const uint8_t *p, int n) {
    if (n != 8 || memcmp(p, "\x01\x7c\x0c", 3) != 0) return 0;
    uint8_t complete[] = {H4_EVENT, 0x0e, 6, 1, 0x7c, 0x0c, 0, p[4], p[5]};
    if (write(kernel, complete, sizeof complete) != sizeof complete) perror("/dev/vhci");
    return 1;
}

// An adapter of the kernel for the controller at `device`; -1 if there can be none.
static int put(const char *device) {
    int kernel = open("/dev/vhci", O_RDWR | O_CLOEXEC);
    uint8_t create[] = {H4_VENDOR, 0}, created[4];
    if (kernel < 0 || write(kernel, create, 2) != 2 || read(kernel, created, 4) != 4) return perror("/dev/vhci"), -1;
    printf("hci%d is on %s\n", created[2] | created[3] << 8, device);
    fflush(stdout);
    return kernel;
}

static int pull(int kernel, int stream) {
    static const uint8_t reset[] = {H4_COMMAND, 0x03, 0x0c, 0};
    close(kernel);
    if (write_all(stream, reset, sizeof reset) < 0) perror("vhci-bridge");
    printf("it has gone\n");
    fflush(stdout);
    return -1;
}

static volatile sig_atomic_t is_pulled = 0;

static void heed(int signal) { is_pulled = signal == SIGUSR1; }

static void relay(int stream, const char *device) {
    static uint8_t in[1 << 17], out[4096];
    int have = 0, n, kernel = put(device);
    sigset_t none;
    sigemptyset(&none);
    while (kernel >= 0 || is_pulled) {
        // While there is no adapter, its file is -1, which is not waited for.
        struct pollfd ends[] = {{stream, POLLIN, 0}, {kernel, POLLIN, 0}};
        if (ppoll(ends, 2, NULL, &none) < 0) {
            if (errno != EINTR) return;
            if (is_pulled && kernel >= 0) kernel = pull(kernel, stream);
            if (!is_pulled && kernel < 0) kernel = put(device);
            continue;
        }
        if (ends[0].revents & POLLIN) {
            if ((n = read(stream, in + have, sizeof in - have)) <= 0) return;
            if ((have = deliver(kernel, in, have + n)) < 0) {
                fprintf(stderr, "vhci-bridge: what came is no H4: 0x%02x\n", in[0]);
                return;
            }
        } else if (ends[0].revents) {
            return;
        }
        if (ends[1].revents & POLLIN) {
            if ((n = read(kernel, out, sizeof out)) <= 0) return;
            if (answered_here(kernel, out, n) || out[0] == H4_VENDOR) continue;
            if (write_all(stream, out, n) < 0) return;
        }
    }
}

int main(int argc, char **argv) {
    if (argc != 2) return fprintf(stderr, "usage: vhci-bridge DEVICE\n"), 2;
    int stream = open(argv[1], O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (stream < 0) return perror(argv[1]), 1;
    // They are delivered only where they are waited for.
    struct sigaction action = {.sa_handler = heed};
    sigset_t both;
    sigemptyset(&both);
    sigaddset(&both, SIGUSR1);
    sigaddset(&both, SIGUSR2);
    sigprocmask(SIG_BLOCK, &both, NULL);
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    relay(stream, argv[1]);
    printf("the adapter on %s has gone\n", argv[1]);
    return 0;
}
