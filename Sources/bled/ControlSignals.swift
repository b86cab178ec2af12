import Glibc

/// The signals that end the daemon or make it reload its policy.
///
/// They are blocked from the creation of this value on, so that none is lost, and in every thread that starts later.
/// SIGPIPE is blocked as well: the daemon continues when its output is closed.
struct ControlSignals {
    /// The meaning of a signal.
    enum Action {
        case end, reload
    }

    private var signals = sigset_t()

    init() {
        sigemptyset(&signals)
        for number in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, number) }
        var held = signals
        sigaddset(&held, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &held, nil)
    }

    /// Waits for a signal and returns its meaning.
    func wait() -> Action {
        var signals = signals, number: Int32 = 0
        while sigwait(&signals, &number) != 0 {}
        return number == SIGHUP ? .reload : .end
    }
}
