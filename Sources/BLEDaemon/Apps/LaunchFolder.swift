import BLERuntime
import Logging

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
        let folder = "\(path)/\(user)"
        let lines = variables.sorted { $0.key < $1.key }.map { "\($0.key)=\(Self.quoted($0.value))\n" }
        do throws(FileProblem) {
            let place = try TrustedPath("\(folder)/\(unit)", creating: 0o755)
            guard place.exists || SystemFile.names(in: folder).count < Self.mostUnits else { return false }
            // The unit's user reads what the daemon writes.
            try place.replace(with: Array(lines.joined().utf8), mode: 0o644)
            return true
        } catch {
            Logger.coreBluetooth.error("\(unit) is not launched. \(error)")
            return false
        }
    }

    /// Removes the file of a unit, which runs: what it is started for later is no launch.
    func remove(_ unit: UnitName, of user: UInt32) { try? TrustedPath("\(path)/\(user)/\(unit)").remove() }

    /// A value as systemd reads it from a file of variables: within quotes, with a backslash before what means more.
    private static func quoted(_ value: String) -> String {
        let escaped = value.map { "\"\\`$".contains($0) ? "\\\($0)" : "\($0)" }.joined()
        return "\"\(escaped)\""
    }
}
