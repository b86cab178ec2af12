import BLEHost
import BLERuntime
import BLESession

/// By what an app is known that is launched again.
struct AppLaunch: Equatable {
    let user: UInt32
    /// The file of its program, as the kernel says, or where it says nothing, the app.
    let program: String
    /// Whether the kernel has told which program it is.
    let isProgramTold: Bool
    let role: ClientRole
    /// The unit that the app says launches it.
    let unit: UnitName?

    init(_ key: AppKey, _ description: AppDescription?) {
        user = key.user
        isProgramTold = !key.program.isEmpty
        program = isProgramTold ? key.program : description?.program ?? ""
        role = key.role
        unit = description?.unit.flatMap(UnitName.init)
    }

    /// Whether this is the same program of the same user.
    func isSameApp(as other: Self) -> Bool { user == other.user && program == other.program }
}
