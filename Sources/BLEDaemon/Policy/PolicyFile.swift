import BLERuntime
import BLESimulation
import FoundationEssentials
import Glibc

/// The policy file, which only root or the daemon's user may be able to write.
package struct PolicyFile: Sendable {
    /// The reason why there is no policy, for people.
    package struct Problem: Error, Equatable, CustomStringConvertible {
        package let description: String
    }

    private static let mostOctets = 1 << 20

    private let path: String
    private let isNeeded: Bool

    /// Names a file.
    ///
    /// If `isNeeded` is true, it is an error if it is missing; otherwise there is no policy then.
    package init(path: String, isNeeded: Bool) {
        self.path = path
        self.isNeeded = isNeeded
    }

    /// Reads the policy.
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
        guard fstat(file.raw, &facts) == 0, [0, geteuid()].contains(facts.st_uid), facts.st_mode & 0o022 == 0 else {
            throw problem("other users may write it; run “chmod go-w \(path)” as its owner, root or the daemon's user")
        }
        guard let octets = SystemFile.octets(of: file, most: Self.mostOctets) else {
            throw problem("it cannot be read, or is longer than \(Self.mostOctets) octets")
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
