import FoundationEssentials
import Glibc
import Testing

@testable import BLERuntime

@Suite("Trusted paths")
struct TrustedPathTests {
    private static let stranger: uid_t = 4_711

    /// Runs `body` with a directory of its own.
    private static func withDirectory(_ body: (String) throws -> Void) throws {
        let directory = "/tmp/trusted-\(UInt64.random(in: 0 ... .max))"
        try #require(mkdir(directory, 0o700) == 0)
        defer { try? FileManager.default.removeItem(atPath: directory) }
        try body(directory)
    }

    private static func reason(_ path: String, creating mode: UInt32? = nil) -> FileProblem.Reason? {
        do throws(FileProblem) {
            _ = try TrustedPath(path, creating: mode)
            return nil
        } catch {
            return error.reason
        }
    }

    @Test(
        "A directory that other users can write to is refused, unless it is sticky",
        arguments: [(0o777, false), (0o702, false), (0o1777, true), (0o755, true)] as [(mode_t, Bool)]
    )
    func writable(mode: mode_t, isTrusted: Bool) throws {
        try Self.withDirectory { directory in
            let folder = directory + "/a"
            try #require(mkdir(folder, 0o700) == 0 && mkdir(folder + "/b", 0o700) == 0 && chmod(folder, mode) == 0)
            for path in [folder + "/file", folder + "/b/file"] {
                #expect(Self.reason(path) == (isTrusted ? nil : .untrusted(folder, .writable)))
            }
        }
    }

    @Test("A directory owned by another user is refused anywhere along the path", .enabled(if: geteuid() == 0))
    func owner() throws {
        try Self.withDirectory { directory in
            let folder = directory + "/a"
            try #require(mkdir(folder, 0o755) == 0 && mkdir(folder + "/b", 0o755) == 0)
            try #require(chown(folder, Self.stranger, 0) == 0)
            for path in [folder + "/file", folder + "/b/file", folder + "/missing/file"] {
                #expect(Self.reason(path, creating: 0o700) == .untrusted(folder, .owned(by: Self.stranger)))
            }
            #expect(access(folder + "/missing", F_OK) != 0)
        }
    }

    @Test(
        "A symbolic link owned by another user is refused, and the user's own is followed",
        .enabled(if: geteuid() == 0)
    )
    func links() throws {
        try Self.withDirectory { directory in
            try #require(mkdir(directory + "/real", 0o755) == 0)
            for (link, target) in [("absolute", directory + "/real"), ("relative", "real")] {
                try #require(symlink(target, "\(directory)/\(link)") == 0)
            }
            for link in ["absolute", "relative"] {
                let place = try TrustedPath("\(directory)/\(link)/file")
                #expect(place.path == directory + "/real/file")
                #expect(place.name == "file")
            }
            try #require(symlink("real/file", directory + "/file") == 0)
            #expect(try TrustedPath(directory + "/file").path == directory + "/real/file")
            try #require(lchown(directory + "/relative", Self.stranger, 0) == 0)
            try #require(lchown(directory + "/file", Self.stranger, 0) == 0)
            let expected = FileProblem.Reason.untrusted(directory + "/relative", .owned(by: Self.stranger))
            #expect(Self.reason(directory + "/relative/file") == expected)
            #expect(Self.reason(directory + "/file") == .untrusted(directory + "/file", .owned(by: Self.stranger)))
        }
    }

    @Test("Links that form a loop are refused")
    func loop() throws {
        try Self.withDirectory { directory in
            try #require(symlink("b", directory + "/a") == 0 && symlink("a", directory + "/b") == 0)
            #expect(Self.reason(directory + "/a/file") == .system(errno: ELOOP))
            #expect(Self.reason(directory + "/a") == .system(errno: ELOOP))
        }
    }

    @Test("A file that another user left in a world-writable directory is not opened", .enabled(if: geteuid() == 0))
    func planted() throws {
        try Self.withDirectory { directory in
            try #require(chmod(directory, 0o1777) == 0)
            let path = directory + "/file"
            try Data("theirs".utf8).write(to: URL(filePath: path))
            try #require(chown(path, Self.stranger, 0) == 0)
            let place = try TrustedPath(path)
            #expect(throws: FileProblem.self) { try place.openToRead() }
            #expect(throws: FileProblem.self) { try place.open(O_WRONLY | O_CREAT | O_APPEND) }
            #expect(try Data(contentsOf: URL(filePath: path)) == Data("theirs".utf8))
            #expect(throws: FileProblem.self) { try PrivateFile(path: path, mostOctets: 100).read() }
        }
    }

    @Test("A link that replaces the file after the check is not followed")
    func swapped() throws {
        try Self.withDirectory { directory in
            let place = try TrustedPath(directory + "/file")
            try Data("secret".utf8).write(to: URL(filePath: directory + "/other"))
            try #require(symlink("other", directory + "/file") == 0)
            #expect(throws: FileProblem.self) { try place.open(O_WRONLY | O_CREAT | O_TRUNC) }
            #expect(try Data(contentsOf: URL(filePath: directory + "/other")) == Data("secret".utf8))
            try place.replace(with: [1])
            #expect(try Data(contentsOf: URL(filePath: directory + "/other")) == Data("secret".utf8))
            #expect(try Data(contentsOf: URL(filePath: directory + "/file")) == Data([1]))
        }
    }

    @Test("Missing directories are created with the given permissions, whatever their names are")
    func creating() throws {
        try Self.withDirectory { directory in
            #expect(Self.reason(directory + "/a/b/file") == .system(errno: ENOENT))
            let place = try TrustedPath(directory + "/a/./b//file", creating: 0o755)
            #expect(place.path == directory + "/a/b/file")
            for folder in ["/a", "/a/b"] {
                var facts = stat()
                #expect(stat(directory + folder, &facts) == 0 && facts.st_mode & 0o7777 == 0o755)
            }
            #expect(Self.reason(directory + "/a/b/..") == .system(errno: EISDIR))
        }
    }

    @Test(
        "A capture is not written into another user's directory or to a file with a second hard link",
        .enabled(if: geteuid() == 0)
    )
    func capture() throws {
        try Self.withDirectory { directory in
            try #require(chmod(directory, 0o755) == 0)
            let folder = directory + "/theirs", path = directory + "/capture.pcapng"
            try #require(mkdir(folder, 0o755) == 0 && chown(folder, Self.stranger, 0) == 0)
            let failure = #expect(throws: CaptureFile.Failure.self) {
                try CaptureFile(path: folder + "/capture.pcapng") { _ in }
            }
            #expect(failure?.cure != nil)
            #expect(CaptureFile.obstacle(at: folder + "/capture.pcapng") == failure)
            try Data("secret".utf8).write(to: URL(filePath: directory + "/other"))
            try #require(link(directory + "/other", path) == 0)
            #expect(throws: CaptureFile.Failure.self) { try CaptureFile(path: path) { _ in } }
            #expect(try Data(contentsOf: URL(filePath: directory + "/other")) == Data("secret".utf8))
        }
    }
}
