import BLERuntime
import CoreBluetooth
import Foundation

/// A result that a task waits for.
///
/// If more than one result is set, the first one counts.
final class PendingResult<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, any Error>)
        case resolved(Result<Value, any Error>)
    }

    private let state = Locked(State.open)

    /// Sets the result, unless it is already set.
    func resolve(_ result: Result<Value, any Error>) {
        let waiting: CheckedContinuation<Value, any Error>? = state.withLock { state in
            switch state {
            case .open:
                state = .resolved(result)
                return nil
            case .awaited(let continuation):
                state = .resolved(result)
                return continuation
            case .resolved: return nil
            }
        }
        waiting?.resume(with: result)
    }

    /// The result.
    ///
    /// Reading it waits until the result is set.
    ///
    /// If the task is cancelled before that, reading throws `CancellationError`.
    var value: Value {
        get async throws {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let resolved: Result<Value, any Error>? = state.withLock { state in
                        if case .resolved(let result) = state { return result }
                        state = .awaited(continuation)
                        return nil
                    }
                    if let resolved { continuation.resume(with: resolved) }
                }
            } onCancel: {
                resolve(.failure(CancellationError()))
            }
        }
    }
}
