import BLEHost
import BLERuntime
import BLESession

/// The properties of an app that identify it for its next launch.
struct AppLaunch: Equatable {
    let user: UInt32
    /// The program file according to the kernel, or otherwise according to the app.
    let program: String
    /// True if the kernel reported the program.
    let isProgramTold: Bool
    let role: ClientRole
    /// The systemd unit that launches the app, according to the app.
    let unit: UnitName?

    init(_ key: AppKey, _ description: AppDescription?) {
        user = key.user
        isProgramTold = !key.program.isEmpty
        program = isProgramTold ? key.program : description?.program ?? ""
        role = key.role
        unit = description?.unit.flatMap(UnitName.init)
    }

    /// Returns whether this is the same program of the same user.
    func isSameApp(as other: Self) -> Bool { user == other.user && program == other.program }
}
