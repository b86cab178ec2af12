import Dispatch
import Foundation

/// Waits for a person who presses Ctrl-C, or for a service manager that ends the process.
@MainActor
enum Interruption {
    /// Ends what `central` waits for when the process is asked to end, or after `time`; until it is cancelled.
    static func task(endingStepsOf central: Central, atMost time: Duration? = nil) -> Task<Void, any Error> {
        Task {
            try await wait(atMost: time)
            central.interrupt()
        }
    }

    /// Returns when the process is asked to end, or after `time`.
    static func wait(atMost time: Duration? = nil) async throws {
        let (signals, continuation) = AsyncStream.makeStream(of: Void.self)
        let sources = [SIGINT, SIGTERM].map { number in
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .main)
            source.setEventHandler { continuation.finish() }
            source.activate()
            return source
        }
        let timer = time.map { time in
            Task {
                try await Task.sleep(for: time)
                continuation.finish()
            }
        }
        for await _ in signals {}
        timer?.cancel()
        for (source, number) in zip(sources, [SIGINT, SIGTERM]) {
            source.cancel()
            signal(number, SIG_DFL)
        }
    }
}
