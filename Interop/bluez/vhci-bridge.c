// Makes a controller that is at the other end of a byte stream an adapter of this kernel.
//
//     vhci-bridge DEVICE
//
// DEVICE, a virtio port, carries HCI packets in the H4 format back to back. /dev/vhci takes exactly one packet with
// each write, and gives exactly one with each read.
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
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
        if (write(kernel, p + at, length) != length) perror("/dev/vhci");
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

static void relay(int stream, int kernel) {
    static uint8_t in[1 << 17], out[4096];
    int have = 0, n;
    struct pollfd ends[] = {{stream, POLLIN, 0}, {kernel, POLLIN, 0}};
    for (;;) {
        if (poll(ends, 2, -1) < 0) {
            if (errno == EINTR) continue;
            return;
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
    int kernel = open("/dev/vhci", O_RDWR | O_CLOEXEC);
    uint8_t create[] = {H4_VENDOR, 0}, created[4];
    if (kernel < 0 || write(kernel, create, 2) != 2 || read(kernel, created, 4) != 4) return perror("/dev/vhci"), 1;
    printf("hci%d is on %s\n", created[2] | created[3] << 8, argv[1]);
    fflush(stdout);
    relay(stream, kernel);
    printf("hci%d has gone\n", created[2] | created[3] << 8);
    return 0;
}
