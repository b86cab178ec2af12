import BLEHost
import BLERuntime
import BLESession

/// The properties of an app that are needed to launch it again.
struct AppLaunch: Equatable {
    let user: UInt32
    /// The path of the program, as reported by the kernel, otherwise by the app; empty if neither reports it.
    let program: String
    /// True if the kernel reported the path of the program.
    let isProgramKnown: Bool
    let role: ClientRole
    /// The systemd unit that launches the app, as reported by the app; `nil` if the app reports none.
    let unit: UnitName?

    init(_ key: AppKey, _ description: AppDescription?) {
        user = key.user
        isProgramKnown = !key.program.isEmpty
        program = isProgramKnown ? key.program : description?.program ?? ""
        role = key.role
        unit = description?.unit.flatMap(UnitName.init)
    }

    /// Returns whether this value and `other` stand for the same program of the same user.
    func isSameApp(as other: Self) -> Bool { user == other.user && program == other.program }
}
