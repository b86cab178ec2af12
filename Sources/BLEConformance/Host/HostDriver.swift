import BLEHost
import BLERuntime
import Dispatch

/// A connection between a test suite and a host.
final class HostDriver: Sendable {
    private let runner: HostRunner
    private let print: @Sendable (HostLine) -> Void
    private let queue = DispatchQueue(label: "conformance-host")
    private let conversation = Locked(HostConversation())
    private let session = Locked<(any HostSession)?>(nil)

    /// Creates a driver for a host that has not been started.
    ///
    /// - Parameters:
    ///   - runner: The host.
    ///   - print: Called with each line, one at a time.
    init(on runner: HostRunner, print: @escaping @Sendable (HostLine) -> Void) {
        self.runner = runner
        self.print = print
    }

    /// Opens the test suite's session on the host, and starts the host.
    func start() {
        session.withLock { session in
            session = runner.open(.tester, on: queue) { [weak self] event in self?.converse { $0.receive(event) } }
        }
        runner.start()
    }

    /// Closes the session, and stops the host.
    func stop() {
        session.withLock { $0?.close() }
        runner.stop()
    }

    /// Processes a line from the test suite.
    func receive(_ line: String) { converse { $0.receive(line) } }

    private func converse(_ body: (inout HostConversation) -> Void) {
        conversation.withLock { conversation in
            body(&conversation)
            for output in conversation.takeOutputs() {
                switch output {
                case .line(let line): print(line)
                case .request(let request): session.withLock { $0?.send(request) }
                }
            }
        }
    }
}
