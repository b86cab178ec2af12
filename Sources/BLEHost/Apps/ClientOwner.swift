/// The app that a session belongs to.
///
/// All sessions of one app have the same user and process. If a host serves apps in other processes, the program that
/// contains the host gets the user and process of each session from the kernel, and sets the session's owner.
package struct ClientOwner: Hashable, Sendable {
    /// The program that the host itself runs in.
    ///
    /// All its sessions are one app, which may do everything.
    package static let program = Self(user: nil, process: nil, isAdministrator: true)

    /// The user ID of an app whose user the kernel does not report; no user has this ID.
    package static let unknownUser = UInt32.max

    /// The user ID; `nil` for the program that the host runs in.
    package let user: UInt32?
    /// The process ID; `nil` if the app is not running.
    package let process: Int32?
    /// True if the app may decide for all apps: answer pairing questions, list and remove bonds, and set requirements.
    package let isAdministrator: Bool

    private init(user: UInt32?, process: Int32?, isAdministrator: Bool) {
        self.user = user
        self.process = process
        self.isAdministrator = isAdministrator
    }

    /// Creates the owner of the sessions of an app in another process.
    package init(user: UInt32, process: Int32?, isAdministrator: Bool) {
        self.init(user: .some(user), process: process, isAdministrator: isAdministrator)
    }

    /// True if this is the program that the host runs in.
    var isProgram: Bool { user == nil }

    /// Returns whether both are apps of the same user.
    ///
    /// Returns `false` if the kernel does not report the users.
    func isSameUser(as other: Self) -> Bool { user == other.user && user != Self.unknownUser }

    /// Returns whether both are the same app.
    ///
    /// Returns `false` if either app is not running.
    func isSameApp(as other: Self) -> Bool {
        user == other.user && process == other.process && (isProgram || process != nil)
    }
}
