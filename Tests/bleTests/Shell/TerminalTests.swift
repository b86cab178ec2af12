import Foundation
import Glibc
import Testing

@Suite("The terminal of the shell", .timeLimit(.minutes(30)))
struct TerminalTests {
    @Test("When a signal ends the shell, the terminal's settings are restored")
    func restores() throws {
        let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        try #require(terminal >= 0)
        defer { close(terminal) }
        // TIOCSPTLCK unlocks the other end, and TIOCGPTN returns its number.
        var isLocked: Int32 = 0, number: Int32 = 0
        try #require(ioctl(terminal, 0x4004_5431, &isLocked) == 0 && ioctl(terminal, 0x8004_5430, &number) == 0)
        let other = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        try #require(other >= 0)
        defer { close(other) }
        func settings() throws -> [tcflag_t] {
            var settings = termios()
            try #require(tcgetattr(other, &settings) == 0)
            return [settings.c_lflag, settings.c_iflag, settings.c_oflag, settings.c_cflag]
        }
        let before = try settings()
        let process = Process()
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        process.executableURL = URL(filePath: tests).deletingLastPathComponent().appending(path: "ble")
        process.arguments = ["shell"]
        process.environment = ProcessInfo.processInfo.environment.merging(["BLUETOOTH_HOST": "demo"]) { $1 }
        let handle = FileHandle(fileDescriptor: other, closeOnDealloc: false)
        (process.standardInput, process.standardOutput) = (handle, handle)
        try process.run()
        defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
        while try settings() == before {
            try #require(process.isRunning)
            poll(nil, 0, 20)
        }
        kill(process.processIdentifier, SIGTERM)
        process.waitUntilExit()
        #expect(process.terminationStatus == 128 + SIGTERM)
        #expect(try settings() == before)
    }
}
