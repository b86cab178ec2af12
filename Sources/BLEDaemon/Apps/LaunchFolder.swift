import BLERuntime

/// The directory for launch files, which make systemd start units, and tell the units what to restore.
///
/// The file of a unit is `USER/UNIT`. A path unit of that user watches the file and starts the unit, which reads the
/// file as an environment file. So the daemon needs no permission to start units, and only units with such a path unit
/// are started. Other users can read neither the file nor the names of that user's units.
struct LaunchFolder: Sendable {
    /// The maximum number of units per user.
    ///
    /// Further units are not launched.
    static let mostUnits = 64

    let path: String

    /// Writes the launch file of a unit.
    func write(_ variables: [String: String], for unit: UnitName, of user: UInt32) throws(LaunchFailure) {
        let folder = "\(path)/\(user)"
        let lines = variables.sorted { $0.key < $1.key }.map { "\($0.key)=\(Self.quoted($0.value))\n" }
        var isFull = false
        do throws(FileProblem) {
            try TrustedPath(folder, creating: 0o755).makeDirectory(reader: user)
            let place = try TrustedPath("\(folder)/\(unit)")
            isFull = !place.exists && SystemFile.names(in: folder).count >= Self.mostUnits
            if !isFull { try place.replace(with: Array(lines.joined().utf8), reader: user) }
        } catch {
            throw LaunchFailure("\(folder)/\(unit) cannot be written: \(error.text)", cure: error.cure)
        }
        guard !isFull else {
            throw LaunchFailure(
                "\(folder) already has \(Self.mostUnits) launch files, which is the limit",
                cure: "Remove the files of units that are no longer used."
            )
        }
    }

    /// Removes the launch file of a unit that has started, so that the unit does not restore sessions when it is
    /// started later.
    func remove(_ unit: UnitName, of user: UInt32) { try? TrustedPath("\(path)/\(user)/\(unit)").remove() }

    /// Returns `value`, quoted for a systemd environment file, without control characters.
    private static func quoted(_ value: String) -> String {
        var escaped = ""
        // A quotation mark and a combining mark after it are one character, but systemd reads octets.
        for scalar in value.unicodeScalars where scalar.properties.generalCategory != .control {
            if ["\"", "\\", "`", "$"].contains(scalar) { escaped.unicodeScalars.append("\\") }
            escaped.unicodeScalars.append(scalar)
        }
        return "\"\(escaped)\""
    }
}
