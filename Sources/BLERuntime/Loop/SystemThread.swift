import Glibc

/// The creation of system threads (pthreads) without Foundation.
package enum SystemThread {
    private final class Body {
        let run: () -> Void
        init(_ run: @escaping () -> Void) { self.run = run }
    }

    /// Runs a function on a new thread, which ends when the function returns.
    ///
    /// The thread blocks all signals, so that the threads of the app handle them.
    ///
    /// - Returns: False if the system cannot create a thread, in which case the function does not run.
    package static func start(_ run: @escaping @Sendable () -> Void) -> Bool {
        var all = sigset_t(), before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        let body = Unmanaged.passRetained(Body(run))
        var thread = pthread_t()
        let failure = pthread_create(
            &thread,
            nil,
            { context in
                if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            },
            body.toOpaque()
        )
        guard failure == 0 else {
            body.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}
