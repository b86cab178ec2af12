import BLERuntime
import CoreBluetooth
import Foundation

/// One answer that a task waits for: the first that comes counts.
final class Answer<Value: Sendable>: Sendable {
    private enum State {
        case open
        case awaited(CheckedContinuation<Value, any Error>)
        case settled(Result<Value, any Error>)
    }

    private let state = Locked(State.open)

    /// Gives the answer, unless there is one.
    func settle(_ result: Result<Value, any Error>) {
        let waiting: CheckedContinuation<Value, any Error>? = state.withLock { state in
            switch state {
            case .open:
                state = .settled(result)
                return nil
            case .awaited(let continuation):
                state = .settled(result)
                return continuation
            case .settled: return nil
            }
        }
        waiting?.resume(with: result)
    }

    /// The answer, as soon as there is one; a task that is cancelled does not wait for it.
    var value: Value {
        get async throws {
            try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    let settled: Result<Value, any Error>? = state.withLock { state in
                        if case .settled(let result) = state { return result }
                        state = .awaited(continuation)
                        return nil
                    }
                    if let settled { continuation.resume(with: settled) }
                }
            } onCancel: {
                settle(.failure(CancellationError()))
            }
        }
    }
}
