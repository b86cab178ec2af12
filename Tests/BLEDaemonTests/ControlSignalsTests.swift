import BLERuntime
import Glibc
import Testing

@testable import bled

@Suite("The signals of the daemon", .timeLimit(.minutes(30)))
struct ControlSignalsTests {
    @Test("A daemon goes on when nobody reads its output or its log any more", arguments: [1, 2] as [Int32])
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
