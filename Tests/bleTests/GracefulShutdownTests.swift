import Foundation
import Testing

@testable import ble

@Suite("The end that a signal asks for", .timeLimit(.minutes(30)))
struct GracefulShutdownTests {
    /// Waits for somebody else to end the process.
    private static func wait() -> Never {
        while true { pause() }
    }

    @Test("has the status that shells give it", arguments: [SIGINT, SIGTERM])
    func status(number: Int32) async {
        await #expect(processExitsWith: .exitCode(128 + number)) { [number] in
            for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
            GracefulShutdown.expect()
            kill(getpid(), number)
            Self.wait()
        }
    }

    @Test("is one at which all is given back", arguments: [SIGINT, SIGTERM])
    func order(number: Int32) async {
        await #expect(processExitsWith: .exitCode(7)) { [number] in
            for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
            atexit { _exit(7) }
            GracefulShutdown.expect()
            kill(getpid(), number)
            Self.wait()
        }
    }

    @Test("is the same after a command has listened itself")
    func afterInterruption() async {
        await #expect(processExitsWith: .exitCode(128 + SIGTERM)) { @MainActor in
            for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
            GracefulShutdown.expect()
            let interruption = Interruption()
            kill(getpid(), SIGINT)
            try await interruption.wait()
            kill(getpid(), SIGTERM)
            Self.wait()
        }
    }

    @Test("does not come by a signal that the process was started without")
    func ignored() async {
        await #expect(processExitsWith: .exitCode(128 + SIGTERM)) {
            signal(SIGINT, SIG_IGN)
            signal(SIGTERM, SIG_DFL)
            GracefulShutdown.expect()
            kill(getpid(), SIGINT)
            kill(getpid(), SIGTERM)
            Self.wait()
        }
    }
}
