import Foundation

/// Where the handler of signals writes the number of one; written before the handler is there, and read by it alone.
private nonisolated(unsafe) var signalled: Int32 = -1

/// Has the process end by itself when a signal asks it to, so that it gives back what it holds: the adapter, and bonds
/// that are not written yet.
///
/// The status is what a shell says of a process that the signal has ended: 130 for Ctrl-C, 143 for `SIGTERM`. Commands
/// that go on until they are interrupted listen themselves meanwhile (``Interruption``).
enum OrderlyEnd {
    /// The signals, but for those that the process was started without, as in the background of a script.
    private static let signals = [SIGINT, SIGTERM].filter { number in
        var action = sigaction()
        sigaction(number, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) != ignored
    }
    /// What stands for SIG_IGN, which is no function.
    private static let ignored = 1

    /// Heeds the signals from now on; where the system has no pipe to give, they end the process.
    static func expect() {
        var ends: [Int32] = [-1, -1]
        guard signalled < 0, pipe(&ends) == 0 else { return }
        let reading = ends[0]
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        signalled = ends[1]
        Thread.detachNewThread {
            var number: UInt8 = 0
            while read(reading, &number, 1) != 1 {}
            // Whoever asks again does not want to wait.
            for number in signals { signal(number, SIG_DFL) }
            exit(128 + Int32(number))
        }
        heed()
    }

    /// Heeds the signals again, which somebody else has listened to.
    static func heed() {
        for number in signals {
            guard signalled >= 0 else {
                signal(number, SIG_DFL)
                continue
            }
            signal(number) { number in
                var octet = UInt8(truncatingIfNeeded: number)
                _ = write(signalled, &octet, 1)
            }
        }
    }
}
