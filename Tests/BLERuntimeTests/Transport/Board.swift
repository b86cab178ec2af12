import BLERuntime
import Dispatch
import Glibc
import LinuxCalls

/// A board with a controller behind a pseudo-terminal, told what to do by a test.
///
/// It answers resets, from the one on that a test wants, and nothing else.
final class Board: Sendable {
    /// What the board has heard, and what it says.
    private final class Memory: Sendable {
        struct State {
            var ignored: Int
            var greeting: [UInt8]
            var resets = 0
            var received = 0
        }

        let state: Locked<State>
        init(_ state: State) { self.state = Locked(state) }

        /// Takes octets, all of which are resets, and returns what to answer.
        func take(_ count: Int) -> [UInt8] {
            state.withLock { state in
                state.received += count
                var answers: [UInt8] = []
                while state.received >= Board.reset.count {
                    state.received -= Board.reset.count
                    state.resets += 1
                    guard state.resets > state.ignored else { continue }
                    answers += state.resets == state.ignored + 1 ? state.greeting + Board.answer : Board.answer
                }
                return answers
            }
        }
    }

    /// Lets the other end be opened, and tells its number: TIOCSPTLCK and TIOCGPTN.
    private static let (unlock, readNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)

    static let reset: [UInt8] = [0x01, 0x03, 0x0C, 0x00]
    static let answer: [UInt8] = [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]

    /// Where its serial port is.
    let path: String
    private let descriptor: FileDescriptor
    /// Keeps the port open: otherwise the board would hear that it was closed.
    private let port: FileDescriptor
    private let memory: Memory

    /// Creates a board that does not hear the first `ignored` resets, and says `greeting` before it answers.
    init?(ignoring ignored: Int = 0, greeting: [UInt8] = []) {
        descriptor = FileDescriptor(open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC))
        var number: Int32 = 0
        guard control_device(descriptor.raw, Self.unlock, &number) == 0,
            control_device(descriptor.raw, Self.readNumber, &number) == 0
        else { return nil }
        path = "/dev/pts/\(number)"
        port = FileDescriptor(open(path, O_RDWR | O_NOCTTY | O_CLOEXEC))
        memory = Memory(Memory.State(ignored: ignored, greeting: greeting))
        DispatchQueue(label: "test.board").async { [descriptor, memory] in
            var buffer = [UInt8](repeating: 0, count: 4096)
            while case let count = read(descriptor.raw, &buffer, buffer.count), count > 0 {
                let answers = memory.take(count)
                if !answers.isEmpty { _ = write(descriptor.raw, answers, answers.count) }
            }
        }
    }

    /// How many resets came, those that were ignored included.
    var resets: Int { memory.state.withLock { $0.resets } }

    /// Says something to the host.
    func say(_ octets: [UInt8]) { _ = write(descriptor.raw, octets, octets.count) }
}
