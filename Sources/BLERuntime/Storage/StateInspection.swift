import BLEHost
import Glibc

/// The result of examining a host's state file without changing it.
package struct StateInspection: Equatable, Sendable {
    /// A problem with the file that the user may want to fix.
    package struct Problem: Equatable, Sendable {
        package let finding: Finding.Code
        package let sentence: String
        package let cure: String?
        package let command: String?
    }

    /// The path of the file; `nil` if the environment names no directory for it.
    package let path: String?
    /// The number of stored peers, and how many of them are bonded; `nil` if there is no readable file.
    package private(set) var peers: (all: Int, bonded: Int)?
    package private(set) var problems: [Problem] = []

    /// Inspects the file at `path`.
    package init(of path: String?) {
        self.path = path
        guard let path else { return }
        let file = PrivateFile(path: path, mostOctets: StateFile.mostOctets)
        do throws(FileProblem) {
            if let octets = try file.read() { inspect(octets, in: file) }
            try file.checkReplaceable()
        } catch {
            problems.append(Problem(error))
        }
        if let rights = file.rightsOfOthers, rights != 0 { problems.append(Self.notPrivate(path)) }
        if file.isHeld { problems.append(Problem(FileProblem(.locked, path + ".lock", errno: EWOULDBLOCK))) }
    }

    private mutating func inspect(_ octets: [UInt8], in file: PrivateFile) {
        do throws(StateText.Unreadable) {
            let text = try StateText(reading: octets)
            let all = text.document(freshSecret: 0).peers.all
            peers = (all.count, all.count { !$0.bonds.isEmpty })
            guard !text.losses.isEmpty else { return }
            problems.append(Self.damaged(file.path, "Values that cannot be read: \(text.losses.count)."))
        } catch {
            switch error {
            case .malformed: problems.append(Self.damaged(file.path, "It cannot be read."))
            case .newer(let version):
                problems.append(Problem(FileProblem(.read, file.path, .newer(version: version))))
            }
        }
    }

    private static func notPrivate(_ path: String) -> Problem {
        let command = "chmod 600 \(path)"
        return Problem(
            finding: .stateNotPrivate,
            sentence: "\(path) contains keys, but other users can read or write it.",
            cure: "Restrict access with “\(command)”.",
            command: command
        )
    }

    private static func damaged(_ path: String, _ what: String) -> Problem {
        let command = "mv \(path) \(path).damaged"
        return Problem(
            finding: .stateDamaged,
            sentence: "\(path) is damaged. \(what)",
            cure: "Restore it from a backup, or move it away with “\(command)” and pair devices again.",
            command: command
        )
    }

    package static func == (a: Self, b: Self) -> Bool {
        a.path == b.path && a.problems == b.problems && a.peers?.all == b.peers?.all
            && a.peers?.bonded == b.peers?.bonded
    }
}

extension StateInspection.Problem {
    fileprivate init(_ problem: FileProblem) {
        finding =
            switch (problem.reason, problem.action) {
            case (.newer, _): .stateNewer
            case (_, .locked): .stateLocked
            case (_, .read), (_, .written), (_, .used): .stateUnusable
            }
        sentence = problem.sentence
        cure = problem.cure
        command = problem.command
    }
}
