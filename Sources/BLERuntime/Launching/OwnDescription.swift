package import BLEHost
package import BLESession
import Glibc

extension AppDescription {
    /// Returns the description that this process, as an app with this role, sends to the daemon.
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
