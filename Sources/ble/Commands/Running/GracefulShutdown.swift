import Foundation

/// The pipe that the signal handler writes the signal number to; set before the handler is installed, and read only by
/// it.
private nonisolated(unsafe) var signalled: Int32 = -1

/// Ends the process in order after a signal, so that it releases the adapter and writes its bonds.
///
/// The exit status is the one that a shell reports for the signal: 130 for Ctrl-C, 143 for `SIGTERM`. Commands that run
/// until they are interrupted listen by themselves (``Interruption``).
enum GracefulShutdown {
    /// The handled signals, except those that were ignored when the process started, as in the background of a script.
    private static let signals = [SIGINT, SIGTERM].filter { number in
        var action = sigaction()
        sigaction(number, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) != ignored
    }
    /// The value of SIG_IGN.
    private static let ignored = 1

    /// Starts handling the signals.
    ///
    /// If the system has no pipe left, they end the process as usual.
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

    /// Handles the signals again after another listener.
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
