import BLERuntime
import Glibc
import Testing

@testable import bled

@Suite("Daemon signals", .timeLimit(.minutes(30)))
struct ControlSignalsTests {
    @Test("The daemon keeps running when its output and its log are closed", arguments: [1, 2] as [Int32])
    func unread(descriptor: Int32) async {
        await #expect(processExitsWith: .exitCode(7)) { [descriptor] in
            signal(SIGPIPE, SIG_DFL)
            var ends: [Int32] = [0, 0]
            pipe(&ends)
            close(ends[0])
            dup2(ends[1], descriptor)
            let signals = ControlSignals()
            try? StandardStream(rawValue: descriptor)?.write(line: "Reloaded the policy.")
            raise(SIGHUP)
            exit(signals.wait() == .reload ? 7 : 1)
        }
    }
}
