import BLERuntime

/// In which machine of which world the process lives, if it lives in one.
enum ProcessSeat {
    private struct State {
        var machine: (any HostLink)?
        /// Whether somebody has the seat for as long as a closure runs.
        var isReserved = false
        /// Those who want the seat next, in the order in which they came.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private static let state = Locked(State())

    /// Where the process lives.
    static var machine: (any HostLink)? { state.withLock { $0.machine } }

    /// Has the process live there until somebody says otherwise.
    static func move(to machine: (any HostLink)?) {
        let isReserved = state.withLock { state in
            guard !state.isReserved else { return true }
            state.machine = machine
            return false
        }
        precondition(!isReserved, "a test has the whole process live in its world until its closure returns")
    }

    /// Waits until nobody else has reserved the seat.
    static func reserve(for machine: any HostLink) async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                guard state.isReserved else {
                    state.isReserved = true
                    return true
                }
                state.waiting.append(continuation)
                return false
            }
            if isFree { continuation.resume() }
        }
        state.withLock { $0.machine = machine }
    }

    /// Lets the next have the seat.
    static func release() {
        let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
            state.machine = nil
            guard !state.waiting.isEmpty else {
                state.isReserved = false
                return nil
            }
            return state.waiting.removeFirst()
        }
        next?.resume()
    }
}
