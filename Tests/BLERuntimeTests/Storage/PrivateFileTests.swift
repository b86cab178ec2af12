import FoundationEssentials
import Glibc
import Testing

@testable import BLERuntime

@Suite("Private file")
struct PrivateFileTests {
    private static func withFile(_ body: (PrivateFile) throws -> Void) throws {
        try StateFileTests.withPath { try body(PrivateFile(path: $0, mostOctets: 100_000)) }
    }

    /// The names of what is in the file's directory.
    private static func names(beside file: PrivateFile) throws -> Set<String> {
        let end = file.path.lastIndex(of: "/") ?? file.path.startIndex
        return Set(try FileManager.default.contentsOfDirectory(atPath: String(file.path[..<end])))
    }

    @Test("A write that the disk truncates at any point leaves the previous content unchanged")
    func cut() async throws {
        await #expect(processExitsWith: .success) {
            try Self.withFile { file in
                let old = [UInt8](repeating: 0x6F, count: 300), new = [UInt8](repeating: 0x6E, count: 301)
                try file.locked { () throws(FileProblem) in try file.replace(with: old) }
                signal(SIGXFSZ, SIG_IGN)
                for length in 0...new.count {
                    setrlimit(
                        __rlimit_resource_t(RLIMIT_FSIZE.rawValue),
                        [rlimit(rlim_cur: rlim_t(length), rlim_max: .max)]
                    )
                    do {
                        try file.locked { () throws(FileProblem) in try file.replace(with: new) }
                        try #require(length == new.count)
                    } catch let problem as FileProblem {
                        try #require(length < new.count && problem.reason == .system(errno: EFBIG))
                    }
                    try #require(file.read() == (length < new.count ? old : new))
                    try #require(Self.names(beside: file) == ["host.json", "host.json.lock"])
                }
            }
        }
    }

    @Test("Remains of a process that was killed while writing do no harm", arguments: [0, 1, 300, 100_001])
    func leftOver(length: Int) throws {
        try Self.withFile { file in
            try file.locked { () throws(FileProblem) in try file.replace(with: [1]) }
            try Data(repeating: 7, count: length).write(to: URL(filePath: file.path + ".new"))
            #expect(try file.read() == [1])
            try file.locked { () throws(FileProblem) in try file.replace(with: [2]) }
            #expect(try file.read() == [2])
            #expect(try Self.names(beside: file) == ["host.json", "host.json.lock"])
        }
    }

    @Test("Only one holder at a time has the lock, even within one process")
    func locked() async throws {
        let directory = FileManager.default.temporaryDirectory.path + "/lock-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let file = PrivateFile(path: directory + "/host.json", mostOctets: 100)
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<5 {
                        #expect(throws: Never.self) {
                            try file.locked { () throws(FileProblem) in
                                try file.replace(with: [(try file.read()?.first ?? 0) + 1])
                            }
                        }
                    }
                }
            }
        }
        #expect(try file.read() == [40])
    }

    @Test("A lock that is never released is a problem with a remedy, and the file stays unchanged")
    func stuck() throws {
        try Self.withFile { file in
            try file.locked { () throws(FileProblem) in
                let problem = #expect(throws: FileProblem.self) {
                    try file.locked { () throws(FileProblem) in try file.replace(with: [1]) }
                }
                #expect(problem?.description.hasSuffix("; end that process or wait.") == true)
                #expect(try file.read() == nil)
            }
        }
    }

    @Test("A file that is set aside keeps its content under a new name, up to nine times")
    func aside() throws {
        try Self.withFile { file in
            try file.locked { () throws(FileProblem) in
                for number in 1...9 as ClosedRange<UInt8> {
                    try file.replace(with: [number])
                    let name = file.path + (number == 1 ? ".unreadable" : ".unreadable-\(number)")
                    for _ in 0..<2 { #expect(try file.preserve() == name, "the same is set aside once") }
                    #expect(try PrivateFile(path: name, mostOctets: 100).read() == [number])
                }
                try file.replace(with: [10])
                #expect(throws: FileProblem.self) { try file.preserve() }
                #expect(try file.read() == [10])
            }
        }
    }

    @Test(
        "A problem names its file and the remedy",
        arguments: [
            (ENOSPC, "No space left on device. Free up space on its disk."), (EIO, "Input/output error."),
            (
                EROFS,
                "Read-only file system. Use a directory on a writable file system; XDG_STATE_HOME sets the one for "
                    + "stored state."
            ),
        ]
    )
    func cures(errno: Int32, end: String) {
        #expect("\(FileProblem(.written, "/a/b", errno: errno))" == "/a/b cannot be written: \(end)")
    }

    @Test("A missing permission is reported with the command that grants it")
    func permission() throws {
        try Self.withFile { file in
            try file.locked { () throws(FileProblem) in try file.replace(with: [1]) }
            let own = FileProblem(.read, file.path, errno: EACCES)
            #expect("\(own)" == "\(file.path) cannot be read: Permission denied. Run “chmod u+rw \(file.path)”.")
            let other = FileProblem(.read, "/proc/1/mem", errno: EACCES)
            if geteuid() != 0 { #expect("\(other)".contains("sudo chown \(geteuid()) /proc/1/mem")) }
        }
    }

    @Test("No command is suggested that takes over a directory of another user")
    func directory() throws {
        try Self.withFile { file in
            try file.locked { () throws(FileProblem) in try file.replace(with: [1]) }
            let folder = geteuid() == 0 ? file.path + "-folder" : "/etc"
            if geteuid() == 0 { try #require(mkdir(folder, 0o755) == 0 && chown(folder, 65_534, 65_534) == 0) }
            let problem = FileProblem(.written, folder + "/missing", errno: EACCES)
            #expect(problem.command == nil)
            #expect(problem.cure?.hasSuffix(". Use a file in a directory that belongs to you.") == true)
        }
    }
}
