package import FoundationEssentials
import Glibc

/// A file beside an app's program that describes the app, like an Info.plist.
///
/// The manifest of `/usr/bin/sensor` is `/usr/bin/sensor.bluetooth.json`.
package struct AppManifest: Decodable, Equatable {
    /// The background modes of the app: `bluetooth-central`, `bluetooth-peripheral`.
    package var backgroundModes: [String]
    /// The command that launches the app again, starting with the program.
    package var launchCommand: [String]
    /// The systemd unit that launches the app again; takes precedence over the command.
    package var unit: UnitName?

    private enum CodingKeys: String, CodingKey {
        case backgroundModes = "UIBackgroundModes"
        case launchCommand = "LaunchCommand"
        case unit = "SystemdUnit"
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        backgroundModes = try values.decodeIfPresent([String].self, forKey: .backgroundModes) ?? []
        launchCommand = try values.decodeIfPresent([String].self, forKey: .launchCommand) ?? []
        unit = try values.decodeIfPresent(String.self, forKey: .unit).map { name in
            guard let unit = UnitName(name) else {
                throw DecodingError.dataCorruptedError(
                    forKey: .unit,
                    in: values,
                    debugDescription: "“\(name)” is not the name of a systemd service unit"
                )
            }
            return unit
        }
    }

    /// Reads the manifest of a program; returns `nil` if there is none that is readable and trusted.
    ///
    /// The daemon runs the manifest's command as the app's user. So the file must belong to that user or root, and
    /// other users must not have write permission.
    package init?(ofProgram program: String, user: UInt32) {
        let raw = open(program + ".bluetooth.json", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard raw >= 0 else { return nil }
        let file = FileDescriptor(raw)
        var facts = stat()
        guard fstat(raw, &facts) == 0, facts.st_uid == user || facts.st_uid == 0, facts.st_mode & 0o022 == 0,
            let octets = SystemFile.octets(of: file, most: 65_536), let manifest = try? Self(json: Data(octets))
        else { return nil }
        self = manifest
    }

    /// Decodes the contents of a manifest.
    package init(json: Data) throws { self = try JSONDecoder().decode(Self.self, from: json) }

    /// Returns whether the app declares this background mode.
    package func declares(_ mode: String?) -> Bool { mode.map(backgroundModes.contains) ?? false }
}
