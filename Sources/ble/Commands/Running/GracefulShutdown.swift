import Foundation

/// The file descriptor of the pipe to which the signal handler writes the signal number; -1 if there is no pipe.
///
/// The variable is set before the handlers are installed, and never changes again.
private nonisolated(unsafe) var signalled: Int32 = -1

/// A normal exit of the process after a signal, so that it releases the adapter and writes the bonds.
///
/// The exit status is the one that a shell reports for the signal: 130 for Ctrl-C, 143 for `SIGTERM`. Commands that run
/// until the user interrupts them handle the signals themselves, with ``Interruption``.
enum GracefulShutdown {
    /// The handled signals.
    ///
    /// Excludes signals that were ignored when the process started, as in the background processes of a script.
    static let signals = [SIGINT, SIGTERM].filter { number in
        var action = sigaction()
        sigaction(number, nil, &action)
        return unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) != ignored
    }
    /// The integer value of the signal handler `SIG_IGN`.
    private static let ignored = 1

    /// Starts to handle the ``signals``.
    ///
    /// If no pipe can be created, the signals kill the process as usual.
    static func expect() {
        var ends: [Int32] = [-1, -1]
        guard signalled < 0, pipe(&ends) == 0 else { return }
        let reading = ends[0]
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        signalled = ends[1]
        Thread.detachNewThread {
            var number: UInt8 = 0
            while read(reading, &number, 1) != 1 {}
            // A second signal ends the process immediately.
            for number in signals { signal(number, SIG_DFL) }
            exit(128 + Int32(number))
        }
        installHandlers()
    }

    /// Installs the signal handlers; also called when ``Interruption`` no longer handles the signals.
    static func installHandlers() {
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
