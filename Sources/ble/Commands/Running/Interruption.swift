import BLERuntime
import Dispatch
import Foundation

/// The file descriptor of the pipe to which the signal handler writes.
///
/// The variable is set before the handler is installed, and only the handler reads it.
private nonisolated(unsafe) var signalled: Int32 = -1

/// A wait for a request to end the process, by Ctrl-C or from a service manager.
@MainActor
final class Interruption {
    /// The cause of the end of a wait.
    enum Cause {
        case signal
        /// The time limit of the wait has passed.
        case timeLimit
    }

    /// The maximum time from a signal until ``wait(atMost:)`` returns.
    private static let responseTime = Duration.seconds(5)

    private let requests: AsyncStream<Void>
    private let continuation: AsyncStream<Void>.Continuation
    private var source: (any DispatchSourceRead)?
    private var cause = Cause.signal
    /// True once ``wait(atMost:)`` has returned.
    private let hasReturned = Locked(false)

    /// Starts to handle `SIGINT` and `SIGTERM`, except those that were ignored when the process started.
    ///
    /// From now on, these signals do not kill the process.
    ///
    /// A pipe is used because it keeps signals that arrive before Dispatch is ready; Dispatch's own signal sources do
    /// not. If no pipe can be created, the signals kill the process as usual.
    ///
    /// - Parameter time: The maximum time from a signal to the end of the process. If it is `nil`, only the time from a
    ///   signal until ``wait(atMost:)`` returns is limited, to ``responseTime``. When the time is over, the process
    ///   exits with status 74, even if the main thread is blocked because no program reads its output.
    init(endingProcessWithin time: Duration? = nil) {
        let (requests, continuation) = AsyncStream.makeStream(of: Void.self)
        self.requests = requests
        self.continuation = continuation
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return }
        let (reading, writing) = (ends[0], ends[1])
        let limit = Int((time ?? Self.responseTime) / .milliseconds(1))
        let source = DispatchSource.makeReadSource(fileDescriptor: reading, queue: .global())
        source.setEventHandler { @Sendable [weak self] in
            var octet: UInt8 = 0
            _ = read(reading, &octet, 1)
            continuation.finish()
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(limit)) { @Sendable [weak self] in
                if time != nil || self?.hasReturned.withLock(\.self) == false { exit(74) }
            }
        }
        source.setCancelHandler { @Sendable in
            close(reading)
            close(writing)
        }
        source.activate()
        self.source = source
        signalled = writing
        for number in GracefulShutdown.signals {
            signal(number) { _ in
                var octet: UInt8 = 0
                _ = write(signalled, &octet, 1)
            }
        }
    }

    /// Starts a task that interrupts the step of `central` when the process is asked to end, or after `time`.
    ///
    /// The task returns the cause.
    static func task(endingStepsOf central: Central, atMost time: Duration? = nil) -> Task<Cause, any Error> {
        let interruption = Interruption()
        return Task {
            let cause = try await interruption.wait(atMost: time)
            central.interrupt()
            return cause
        }
    }

    /// Starts to handle `SIGINT` and `SIGTERM`, and returns when the process is asked to end, or after `time`.
    static func wait(atMost time: Duration? = nil) async throws { try await Interruption().wait(atMost: time) }

    /// Returns when the process has been asked to end, or after `time`.
    ///
    /// Only one caller may wait.
    ///
    /// A signal that arrives later ends the process, as ``GracefulShutdown`` describes.
    @discardableResult
    func wait(atMost time: Duration? = nil) async throws -> Cause {
        let timer = time.map { time in
            Task {
                try await Task.sleep(for: time)
                cause = .timeLimit
                continuation.finish()
            }
        }
        for await _ in requests {}
        timer?.cancel()
        hasReturned.withLock { $0 = true }
        GracefulShutdown.installHandlers()
        source?.cancel()
        return cause
    }
}
