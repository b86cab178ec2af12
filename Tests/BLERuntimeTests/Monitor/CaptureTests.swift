import BLEWire
import FoundationEssentials
import Glibc
import Testing

@testable import BLERuntime

@Suite("Packet capture")
struct CaptureTests {
    static let reset: [UInt8] = [0x01, 0x03, 0x0C, 0x00]
    static let answer: [UInt8] = [0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00]

    /// Runs `body` with a path in a directory of its own.
    static func withPath(_ name: String, _ body: (String) throws -> Void) throws {
        let directory = "/tmp/capture-\(UInt64.random(in: 0 ... .max))"
        try #require(mkdir(directory, 0o700) == 0)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try body(directory + "/" + name)
    }

    static func octets(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }

    static func packet(
        _ bytes: [UInt8],
        _ direction: PacketRecord.Direction,
        of machine: String = "a",
        at nanoseconds: Int64 = 0
    ) -> PacketRecord {
        PacketRecord(
            machine: machine,
            direction: direction,
            time: Instant(nanoseconds: nanoseconds),
            bytes: bytes
        )
    }

    @Test("The extension of the file name selects the format, and an unknown one is refused")
    func names() {
        #expect(CaptureFormat(path: "/x/a.pcapng") == .pcapng)
        #expect(CaptureFormat(path: "a.btsnoop") == .btsnoop)
        for path in ["a", "a.pcap", "a.pcapng.1", ""] { #expect(CaptureFormat(path: path) == nil) }
        #expect(throws: CaptureFile.Failure.self) { try CaptureFile(path: "/tmp/a.log") { _ in } }
    }

    @Test("A pcapng capture consists of a section, an interface and packets with comments")
    func pcapng() {
        let format = CaptureFormat.pcapng
        #expect(
            format.header == [
                0x0A, 0x0D, 0x0D, 0x0A, 28, 0, 0, 0, 0x4D, 0x3C, 0x2B, 0x1A, 1, 0, 0, 0,
                0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 28, 0, 0, 0,
            ]
        )
        #expect(
            format.introduction(of: PacketSource(machine: "phone")) == [
                1, 0, 0, 0, 44, 0, 0, 0, 201, 0, 0, 0, 0, 0, 0, 0,
                2, 0, 5, 0, 0x70, 0x68, 0x6F, 0x6E, 0x65, 0, 0, 0, 9, 0, 1, 0, 9, 0, 0, 0, 0, 0, 0, 0, 44, 0, 0, 0,
            ]
        )
        let time: Int64 = 0x0102_0304_0506_0708
        #expect(
            format.record(Self.answer, .toHost, of: 1, at: time, comments: ["Hi!"]) == [
                6, 0, 0, 0, 56, 0, 0, 0, 1, 0, 0, 0, 4, 3, 2, 1, 8, 7, 6, 5, 11, 0, 0, 0, 11, 0, 0, 0,
                0, 0, 0, 1, 0x04, 0x0E, 0x04, 0x01, 0x03, 0x0C, 0x00, 0,
                1, 0, 3, 0, 0x48, 0x69, 0x21, 0, 0, 0, 0, 0, 56, 0, 0, 0,
            ]
        )
        #expect(
            format.record(Self.reset, .toController, of: 0, at: 0, comments: []) == [
                6, 0, 0, 0, 40, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0, 0, 0, 8, 0, 0, 0,
                0, 0, 0, 0, 0x01, 0x03, 0x0C, 0x00, 40, 0, 0, 0,
            ]
        )
    }

    @Test("A btsnoop capture consists of a header and packets with flags and microseconds")
    func btsnoop() {
        let format = CaptureFormat.btsnoop
        #expect(format.header == Array("btsnoop\0".utf8) + [0, 0, 0, 1, 0, 0, 0x03, 0xEA])
        #expect(format.introduction(of: PacketSource(machine: "phone")) == [])
        #expect(
            format.record(Self.answer, .toHost, of: 0, at: 1_000, comments: ["unheard"]) == [
                0, 0, 0, 7, 0, 0, 0, 7, 0, 0, 0, 3, 0, 0, 0, 0, 0x00, 0xDC, 0xDD, 0xB3, 0x0F, 0x2F, 0x80, 0x01,
            ] + Self.answer
        )
        #expect(format.record([0x02, 1, 0, 0, 0], .toController, of: 0, at: 0, comments: [])[8..<12] == [0, 0, 0, 0])
    }

    @Test("Packets are written immediately, with comments on the next packet and an introduction of each machine")
    func writing() throws {
        try Self.withPath("a.pcapng") { path in
            let file = try CaptureFile(path: path) { Issue.record("\($0)") }
            let format = CaptureFormat.pcapng
            #expect(try Self.octets(path) == format.header)
            file.comment("app 1 requests: scan")
            file.write(Self.packet(Self.reset, .toController))
            let first = try Self.octets(path)
            #expect(
                first.count == format.header.count + format.introduction(of: PacketSource(machine: "a")).count + 40 + 28
            )
            #expect(first.firstRange(of: Array("app 1 requests: scan".utf8)) != nil)
            file.write(Self.packet(Self.answer, .toHost, at: 5_000))
            file.write(Self.packet(Self.reset, .toController, of: "b"))
            let all = try Self.octets(path)
            #expect(Array(all.prefix(first.count)) == first)
            #expect(all.count == first.count + 44 + format.introduction(of: PacketSource(machine: "b")).count + 40)
        }
    }

    private static func rights(_ path: String) throws -> mode_t {
        var facts = stat()
        try #require(stat(path, &facts) == 0)
        return facts.st_mode & 0o777
    }

    @Test("Only its user can read the file, even if others could read it before", arguments: [false, true])
    func rights(isThere: Bool) throws {
        try Self.withPath("a.pcapng") { path in
            if isThere {
                try Data([1, 2, 3]).write(to: URL(filePath: path))
                chmod(path, 0o644)
            }
            let file = try CaptureFile(path: path) { Issue.record("\($0)") }
            #expect(try Self.rights(path) == 0o600)
            #expect(try Self.octets(path) == CaptureFormat.pcapng.header)
            withExtendedLifetime(file) {}
        }
    }

    @Test("A pipe is written to like a file, and keeps its permissions")
    func pipe() throws {
        try Self.withPath("a.pcapng") { path in
            try #require(mkfifo(path, 0o600) == 0)
            chmod(path, 0o644)
            let reader = FileDescriptor(open(path, O_RDWR | O_NONBLOCK))
            let file = try CaptureFile(path: path) { Issue.record("\($0)") }
            var octets = [UInt8](repeating: 0, count: 4_096)
            let count = read(reader.raw, &octets, octets.count)
            #expect(Array(octets.prefix(max(0, count))) == CaptureFormat.pcapng.header)
            #expect(try Self.rights(path) == 0o644)
            withExtendedLifetime(file) {}
        }
    }

    @Test("A full file is rotated, and one earlier file is kept")
    func rotation() throws {
        try Self.withPath("a.btsnoop") { path in
            let file = try CaptureFile(path: path, limit: 100) { Issue.record("\($0)") }
            let record = 24 + Self.reset.count, head = CaptureFormat.btsnoop.header.count
            for _ in 0..<8 { file.write(Self.packet(Self.reset, .toController)) }
            #expect(try Self.octets(path + ".1").count == head + 3 * record)
            #expect(try Self.octets(path).count == head + 2 * record)
            #expect(try Self.octets(path).starts(with: CaptureFormat.btsnoop.header))
        }
    }

    @Test("A file that cannot be created is refused, and a failed write ends the capture once")
    func failing() throws {
        try Self.withPath("a.pcapng") { path in
            try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "/dev/full")
            #expect(throws: CaptureFile.Failure.self) { try CaptureFile(path: path) { _ in } }
            #expect(throws: CaptureFile.Failure.self) { try CaptureFile(path: path + "/b.pcapng") { _ in } }
        }
        try Self.withPath("a.btsnoop") { path in
            let failures = Locked<[CaptureFile.Failure]>([])
            let file = try CaptureFile(path: path, limit: 20) { failure in failures.withLock { $0.append(failure) } }
            file.write(Self.packet(Self.reset, .toController))
            // A directory in the place of the earlier file cannot be replaced.
            try FileManager.default.createDirectory(atPath: path + ".1/x", withIntermediateDirectories: true)
            for _ in 0..<3 { file.write(Self.packet(Self.reset, .toController)) }
            #expect(failures.withLock { $0.map(\.path) } == [path])
        }
    }
}
