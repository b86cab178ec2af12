import BLERuntime
import Glibc

/// The folder of files by which units learn that they are to run, and what they restore.
///
/// `USER/UNIT` is the file of a unit: a path unit of that user watches it and starts the unit, which reads it as a file
/// of variables. So the daemon needs no right over anybody's units, and starts none that does not ask for it.
struct LaunchFolder: Sendable {
    /// How many units of one user have a file; further ones are not launched.
    static let mostUnits = 64

    let path: String

    /// Replaces the file of a unit; whether that could be done.
    func write(_ variables: [String: String], for unit: UnitName, of user: UInt32) -> Bool {
        let folder = "\(path)/\(user)", file = "\(folder)/\(unit)", draft = "\(folder)/.draft"
        guard Self.make(path), Self.make(folder),
            access(file, F_OK) == 0 || SystemFile.names(in: folder).count < Self.mostUnits
        else { return false }
        let lines = variables.sorted { $0.key < $1.key }.map { "\($0.key)=\(Self.quoted($0.value))\n" }
        unlink(draft)
        let raw = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o644)
        guard raw >= 0 else { return false }
        let octets = Array(lines.joined().utf8)
        // The unit's user reads what the daemon writes, whatever the daemon's mask is.
        let isWritten = Glibc.write(raw, octets, octets.count) == octets.count && fchmod(raw, 0o644) == 0
        close(raw)
        return isWritten && rename(draft, file) == 0
    }

    /// Removes the file of a unit, which runs: what it is started for later is no launch.
    func remove(_ unit: UnitName, of user: UInt32) { unlink("\(path)/\(user)/\(unit)") }

    private static func make(_ folder: String) -> Bool {
        if mkdir(folder, 0o755) == 0 { return chmod(folder, 0o755) == 0 }
        return errno == EEXIST
    }

    /// A value as systemd reads it from a file of variables: within quotes, with a backslash before what means more.
    private static func quoted(_ value: String) -> String {
        let escaped = value.map { "\"\\`$".contains($0) ? "\\\($0)" : "\($0)" }.joined()
        return "\"\(escaped)\""
    }
}
