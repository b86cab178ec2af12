import Glibc

/// The signals that end the daemon or make it reload its policy.
///
/// They are blocked when this value is created, in the calling thread and in all threads that start later, so that no
/// signal is lost. SIGPIPE is also blocked, so that the daemon survives when its output is closed.
struct ControlSignals {
    /// The action that a signal requests.
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

    /// Waits for a signal, and returns the action that it requests.
    func wait() -> Action {
        var signals = signals, number: Int32 = 0
        while sigwait(&signals, &number) != 0 {}
        return number == SIGHUP ? .reload : .end
    }
}
