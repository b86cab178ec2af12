import BLERuntime
import BLESimulation
import FoundationEssentials
import Glibc

/// The file with the policy.
///
/// The file must be writable only by root and the daemon's user.
package struct PolicyFile: Sendable {
    /// The reason why the policy cannot be used, for messages.
    package struct Problem: Error, Equatable, CustomStringConvertible {
        package let description: String
    }

    private static let mostOctets = 1 << 20

    private let path: String
    private let isNeeded: Bool

    /// Creates a reference to the file at `path`, without reading the file.
    ///
    /// If `isNeeded` is true, a missing file is an error; otherwise a missing file means that there is no policy.
    package init(path: String, isNeeded: Bool) {
        self.path = path
        self.isNeeded = isNeeded
    }

    /// Reads and parses the policy.
    ///
    /// - Throws: A problem if the file cannot be read, can be written by other users, or is invalid.
    package func read() throws(Problem) -> AppPolicy {
        let file: FileDescriptor
        do throws(FileProblem) {
            file = try TrustedPath(path).openToRead()
        } catch {
            guard error.reason == .system(errno: ENOENT), !isNeeded else {
                throw problem([error.text, error.cure].compactMap { $0 }.joined(separator: ". "))
            }
            return .none
        }
        var facts = stat()
        guard fstat(file.raw, &facts) == 0 else { throw problem(String(cString: strerror(errno))) }
        guard [0, geteuid()].contains(facts.st_uid) else {
            throw problem("it belongs to user \(facts.st_uid), but must belong to root or to the daemon's user")
        }
        guard facts.st_mode & 0o022 == 0 else {
            throw problem("other users may write to it; run “chmod go-w \(path)” as its owner")
        }
        guard let octets = SystemFile.octets(of: file, most: Self.mostOctets) else {
            let isLong = facts.st_size > Self.mostOctets
            throw problem(isLong ? "it is longer than \(Self.mostOctets) octets" : "it cannot be read")
        }
        let data = Data(octets)
        do {
            return try AppPolicy(json: data, origin: path)
        } catch let error as DecodingError {
            throw Problem(description: "\(error.place(in: path, data)): \(error.explanation)")
        } catch {
            throw problem("\(error)")
        }
    }

    private func problem(_ sentence: String) -> Problem { Problem(description: "\(path): \(sentence)") }
}
