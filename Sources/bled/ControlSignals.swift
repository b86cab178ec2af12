import Glibc

/// The signals by which a person or a service manager ends the daemon, or has it read its policy again.
///
/// They are held back from the moment at which this is made, so that none is lost, and every thread that begins later
/// leaves them alone. So is the signal that ends whoever writes to a pipe that nobody reads any more: the daemon goes
/// on without its output.
struct ControlSignals {
    /// What somebody wants.
    enum Wish {
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

    /// Returns when one of them has come.
    func wait() -> Wish {
        var signals = signals, number: Int32 = 0
        while sigwait(&signals, &number) != 0 {}
        return number == SIGHUP ? .reload : .end
    }
}
