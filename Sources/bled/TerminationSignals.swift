import Glibc

/// The signals by which a person or a service manager ends the daemon.
///
/// They are held back from the moment at which this is made, so that none is lost, and every thread that begins later
/// leaves them alone.
struct TerminationSignals {
    private var signals = sigset_t()

    init() {
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM] { sigaddset(&signals, number) }
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// Returns when one of them has come.
    func wait() {
        var signals = signals, number: Int32 = 0
        while sigwait(&signals, &number) != 0 {}
    }
}
