import BLERuntime
import Logging

/// The directory with files that make units start and tell them what to restore.
///
/// `USER/UNIT` is the file of a unit: a path unit of that user watches it and starts the unit, which reads it as an
/// environment file. So the daemon needs no permission to manage units, and starts none that does not ask for it.
struct LaunchFolder: Sendable {
    /// The maximum number of units per user.
    ///
    /// Further ones are not launched.
    static let mostUnits = 64

    let path: String

    /// Replaces the file of a unit; returns whether it succeeded.
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
            Logger.coreBluetooth.error("Did not launch \(unit). \(error)")
            return false
        }
    }

    /// Removes the file of a unit that has started, so that later starts are not launches.
    func remove(_ unit: UnitName, of user: UInt32) { try? TrustedPath("\(path)/\(user)/\(unit)").remove() }

    /// Returns a quoted value for a systemd environment file.
    private static func quoted(_ value: String) -> String {
        let escaped = value.map { "\"\\`$".contains($0) ? "\\\($0)" : "\($0)" }.joined()
        return "\"\(escaped)\""
    }
}
