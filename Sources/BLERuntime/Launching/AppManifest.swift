package import BLEHost
package import BLESession
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

    /// Reads the manifest of a program; returns `nil` if the file is missing, invalid or not trusted.
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

    /// Returns whether the app declares the background mode `mode`; false if `mode` is `nil`.
    package func declares(_ mode: String?) -> Bool { mode.map(backgroundModes.contains) ?? false }
}

/// The background modes that a process declares in an environment variable, as apps do in an Info.plist.
package enum BackgroundDeclaration {
    /// The environment variable with the declaration: `bluetooth-central`, `bluetooth-peripheral` or both, separated by
    /// a comma.
    package static let variable = "BLUETOOTH_BACKGROUND_MODES"

    /// Returns the phase of an app whose process has this declaration.
    ///
    /// The app is in the foreground if there is no declaration, or if its role needs no mode. Otherwise it is in the
    /// background if the mode of its role is declared, and suspended if it is not.
    package static func phase(of role: ClientRole, declared text: String?) -> AppPhase {
        guard let text, let mode = mode(of: role) else { return .foreground }
        return text.split(separator: ",").contains { $0 == mode } ? .background : .suspended
    }

    /// Returns the mode that an app in this role must declare to run in the background; `nil` if it need not declare
    /// any.
    package static func mode(of role: ClientRole) -> String? {
        switch role {
        case .central: "bluetooth-central"
        case .peripheral: "bluetooth-peripheral"
        case .agent, .tester: nil
        }
    }
}

extension AppDescription {
    /// Returns the description that this process sends to the daemon when it opens a session in this role.
    package static func own(as role: ClientRole) -> Self {
        let program = SystemFile.target(of: "/proc/self/exe") ?? ""
        return Self(program: program, unit: unit(of: program, as: role)?.description)
    }

    /// Returns the unit that launches this process again; `nil` if there is none.
    ///
    /// If the program's manifest declares the role's background mode, this is the unit that the manifest names.
    /// Otherwise it is the unit that the process runs in, if that unit's file declares the mode.
    private static func unit(of program: String, as role: ClientRole) -> UnitName? {
        let mode = BackgroundDeclaration.mode(of: role)
        if let manifest = AppManifest(ofProgram: program, user: geteuid()), manifest.declares(mode) {
            return manifest.unit
        }
        guard let unit = ServiceUnit(inGroups: SystemFile.text(of: "/proc/self/cgroup")), let mode,
            unit.backgroundModes({ name in getenv(name).map { String(cString: $0) } }).contains(mode)
        else { return nil }
        return unit.name
    }
}
