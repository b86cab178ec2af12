package import Foundation
import Glibc

/// What an app says of itself in a file beside its program, as an app for a phone does in its Info.plist.
///
/// The file of `/usr/bin/sensor` is `/usr/bin/sensor.bluetooth.json`.
package struct AppManifest: Decodable, Equatable {
    /// What the app does in the background: `bluetooth-central`, `bluetooth-peripheral`.
    package var backgroundModes: [String]
    /// What launches the app again, the program first.
    package var launchCommand: [String]
    /// The unit of systemd that launches the app again; goes before a command.
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
                    debugDescription: "“\(name)” is not the name of a service unit"
                )
            }
            return unit
        }
    }

    /// The manifest of a program; `nil` if it has none that can be read and trusted.
    ///
    /// Only the user of the app or root may have written it, since what it says is done as that user.
    package init?(ofProgram program: String, user: UInt32) {
        let raw = open(program + ".bluetooth.json", O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard raw >= 0 else { return nil }
        let file = Descriptor(raw)
        var facts = stat()
        guard fstat(raw, &facts) == 0, facts.st_uid == user || facts.st_uid == 0, facts.st_mode & 0o022 == 0,
            let octets = SystemFile.octets(of: file, most: 65_536), let manifest = try? Self(json: Data(octets))
        else { return nil }
        self = manifest
    }

    /// Reads what a manifest holds.
    package init(json: Data) throws { self = try JSONDecoder().decode(Self.self, from: json) }

    /// Whether the app says that it works in the background in this way.
    package func declares(_ mode: String?) -> Bool { mode.map(backgroundModes.contains) ?? false }
}
