import BLERuntime
import BLESession
import BLEWire
import CoreBluetooth
import Glibc
import Testing

@testable import BLEDaemon

@Suite("Location of the daemon's socket", .timeLimit(.minutes(30)), .serialized)
struct SocketPlaceTests {
    private func withDirectory(_ body: (String) throws -> Void) throws {
        let directory = "/tmp/place-\(UInt64.random(in: 0 ... .max))"
        try #require(mkdir(directory, 0o755) == 0 && chmod(directory, 0o755) == 0)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try body(directory)
    }

    private func daemon() -> Daemon { Daemon(Radios([("none", UnsupportedLink())])) }

    @Test("All users may connect to the socket, whatever the umask", arguments: [0o077, 0o022, 0] as [mode_t])
    func permissions(mask: mode_t) async {
        // The mask belongs to the whole process.
        await #expect(processExitsWith: .success) { [mask] in
            umask(mask)
            try SocketPlaceTests().withDirectory { directory in
                let daemon = SocketPlaceTests().daemon(), path = directory + "/deep/er/socket"
                let place = try daemon.listen(at: path)
                for (path, mode) in [(path, 0o666), (directory + "/deep", 0o755), (directory + "/deep/er", 0o755)] {
                    var facts = stat()
                    let expected = geteuid() == 0 || path.hasSuffix("socket") ? mode : 0o700
                    try #require(stat(path, &facts) == 0 && facts.st_mode & 0o777 == expected)
                }
                daemon.stop()
                place.remove()
                try #require(access(path, F_OK) != 0)
            }
        }
    }

    @Test("Creating the socket does not affect the permissions of files created by other threads")
    func mask() async {
        await #expect(processExitsWith: .success) {
            umask(0o022)
            try SocketPlaceTests().withDirectory { directory in
                let isOver = Locked(false), widest = Locked<mode_t>(0), done = DispatchSemaphore(value: 0)
                Thread.detachNewThread {
                    var facts = stat()
                    while !isOver.withLock({ $0 }) {
                        mkdir(directory + "/made", 0o777)
                        stat(directory + "/made", &facts)
                        rmdir(directory + "/made")
                        widest.withLock { $0 |= facts.st_mode & 0o777 }
                    }
                    done.signal()
                }
                DispatchQueue.concurrentPerform(iterations: 4) { number in
                    let loop = EventLoop("test")
                    loop.start()
                    for _ in 0..<200 {
                        guard let place = try? TrustedPath(directory + "/\(number)") else { return }
                        try? SocketListener(at: place, on: loop) { (_: FileDescriptor) in }.close()
                        place.remove()
                    }
                }
                isOver.withLock { $0 = true }
                done.wait()
                try #require(umask(0) == 0o022 && widest.withLock { $0 } == 0o755)
            }
        }
    }

    @Test("A daemon that stops leaves the service manager's socket intact, and the next one serves the waiting apps")
    func adopted() async throws {
        let directory = "/tmp/place-\(UInt64.random(in: 0 ... .max))", path = directory + "/socket"
        try #require(mkdir(directory, 0o755) == 0)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let socket = try listeningSocket(at: path), first = daemon(), second = daemon()
        first.listen(adopting: FileDescriptor(dup(socket.raw)))
        #expect(try await isServed(RawApp(at: path, saying: .hello(Hello()))))
        first.stop()
        let waiting = try RawApp(at: path, saying: .hello(Hello()))
        second.listen(adopting: FileDescriptor(dup(socket.raw)))
        #expect(try await isServed(waiting))
        second.stop()
    }

    /// Returns a listening socket, as the service manager creates it.
    private func listeningSocket(at path: String) throws -> FileDescriptor {
        let socket = FileDescriptor(Glibc.socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0))
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let isBound = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket.raw, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
        try #require(isBound && Glibc.listen(socket.raw, 8) == 0)
        return socket
    }

    private func isServed(_ app: RawApp) async throws -> Bool {
        guard case .welcome? = try await app.listen(until: { _ in true }).first else { return false }
        return true
    }

    @Test("A directory that other users may change is refused, and nothing is created there")
    func refused() throws {
        try withDirectory { directory in
            let cases: [(String, mode_t, uid_t)] = [("open", 0o777, geteuid()), ("theirs", 0o755, 4_711)]
            for (name, mode, owner) in cases {
                let folder = directory + "/" + name
                try #require(mkdir(folder, 0o700) == 0 && chmod(folder, mode) == 0)
                guard chown(folder, owner, .max) == 0 else { continue }
                for path in [folder + "/socket", folder + "/new/socket"] {
                    let error = #expect(throws: TransportError.self) { try daemon().listen(at: path) }
                    #expect(error?.code == .forbidden && error?.cure != nil)
                }
                #expect(try FileManager.default.contentsOfDirectory(atPath: folder).isEmpty)
            }
        }
    }

    @Test("A symbolic link at the socket's path is neither followed nor given other permissions")
    func link() throws {
        try withDirectory { directory in
            let secret = directory + "/secret", path = directory + "/socket"
            try Data("secret".utf8).write(to: URL(filePath: secret))
            chmod(secret, 0o600)
            try #require(symlink(secret, path) == 0)
            #expect(throws: TransportError.self) { try daemon().listen(at: path) }
            var facts = stat()
            #expect(stat(secret, &facts) == 0 && facts.st_mode & 0o777 == 0o600)
        }
    }

    @Test(
        "Only the unit's user can read its file, whatever the umask, even if an earlier version has made the directory",
        .enabled(if: geteuid() == 0),
        arguments: [0o077, 0] as [mode_t],
        [true, false]
    )
    func unit(mask: mode_t, isUpdate: Bool) async {
        await #expect(processExitsWith: .success) { [mask, isUpdate] in
            try SocketPlaceTests().withDirectory { directory in
                let place = directory + "/launches", file = place + "/4711/a.service"
                if isUpdate { try #require(mkdir(place, 0o755) == 0 && mkdir(place + "/4711", 0o755) == 0) }
                umask(mask)
                let unit = try #require(UnitName("a.service"))
                for _ in 0..<2 { try LaunchFolder(path: place).write([:], for: unit, of: 4_711) }
                var facts = stat()
                try #require(stat(place, &facts) == 0 && facts.st_mode & 0o777 == 0o755)
                for (user, mayRead) in [(4_711, true), (4_712, false)] as [(uid_t, Bool)] {
                    try #require(setegid(user) == 0 && seteuid(user) == 0)
                    let descriptors = [open(file, O_RDONLY), open(place + "/4711", O_RDONLY | O_DIRECTORY)]
                    try #require(descriptors.allSatisfy { ($0 >= 0) == mayRead })
                    try #require(open(file, O_WRONLY) < 0 && unlink(file) != 0)
                    try #require(seteuid(0) == 0 && setegid(0) == 0)
                }
            }
        }
    }
}
