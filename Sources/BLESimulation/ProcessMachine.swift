import BLERuntime

/// The machine that the whole process inhabits, if there is one.
enum ProcessMachine {
    private struct State {
        var machine: (any HostLink)?
        /// True while the process is reserved for the duration of a closure.
        var isReserved = false
        /// The callers that wait to reserve the process, in the order of their calls.
        var waiting: [CheckedContinuation<Void, Never>] = []
    }

    private static let state = Locked(State())

    /// The machine that the process inhabits; `nil` if there is none.
    static var machine: (any HostLink)? { state.withLock { $0.machine } }

    /// Makes the process inhabit a machine until the next call, or no machine if `machine` is `nil`.
    static func move(to machine: (any HostLink)?) {
        let isReserved = state.withLock { state in
            guard !state.isReserved else { return true }
            state.machine = machine
            return false
        }
        precondition(
            !isReserved,
            "call inhabitProcessWide() and leaveProcess() only when no closure of inhabitProcessWide { } is running"
        )
    }

    /// Waits until no other caller has reserved the process, then reserves it for `machine`.
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

    /// Ends the reservation; the first waiting caller, if any, gets a new one.
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
