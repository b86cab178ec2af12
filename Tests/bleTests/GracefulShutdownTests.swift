import Foundation
import Testing

@testable import ble

@Suite("Graceful shutdown on a signal", .timeLimit(.minutes(30)))
struct GracefulShutdownTests {
    /// Waits for somebody else to end the process.
    private static func wait() -> Never {
        while true { pause() }
    }

    @Test("The exit status is the one that shells use for the signal", arguments: [SIGINT, SIGTERM])
    func status(number: Int32) async {
        await #expect(processExitsWith: .exitCode(128 + number)) { [number] in
            for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
            GracefulShutdown.expect()
            kill(getpid(), number)
            Self.wait()
        }
    }

    @Test("A signal runs all cleanup", arguments: [SIGINT, SIGTERM])
    func order(number: Int32) async {
        await #expect(processExitsWith: .exitCode(7)) { [number] in
            for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
            atexit { _exit(7) }
            GracefulShutdown.expect()
            kill(getpid(), number)
            Self.wait()
        }
    }

    @Test("A signal still works after a command has handled one itself")
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

    @Test("A signal ignored when the process started has no effect")
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

    @Test("A signal ignored when the process started stays ignored by commands that handle signals themselves")
    func ignoredByCommands() async {
        await #expect(processExitsWith: .exitCode(7)) { @MainActor in
            signal(SIGINT, SIG_IGN)
            signal(SIGTERM, SIG_DFL)
            GracefulShutdown.expect()
            let interruption = Interruption()
            let handler = unsafeBitCast(signal(SIGINT, SIG_IGN), to: Int.self)
            kill(getpid(), SIGTERM)
            try await interruption.wait()
            // 1 is the value of SIG_IGN.
            exit(handler == 1 ? 7 : 2)
        }
    }

    @Test("A signal ends a command whose main thread is blocked", arguments: [SIGINT, SIGTERM])
    func blocked(number: Int32) async {
        await #expect(processExitsWith: .exitCode(74)) { @MainActor [number] in
            for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
            GracefulShutdown.expect()
            let interruption = Interruption()
            Task { try await interruption.wait() }
            kill(getpid(), number)
            Self.wait()
        }
    }

    @Test("A wait distinguishes a signal from the end of its time", arguments: [true, false])
    func cause(isSignal: Bool) async {
        await #expect(processExitsWith: .exitCode(7)) { @MainActor [isSignal] in
            for number in [SIGINT, SIGTERM] { signal(number, SIG_DFL) }
            let interruption = Interruption()
            if isSignal { kill(getpid(), SIGTERM) }
            let cause = try await interruption.wait(atMost: isSignal ? .seconds(3_600) : .milliseconds(1))
            exit(cause == (isSignal ? .signal : .timeLimit) ? 7 : 2)
        }
    }
}
