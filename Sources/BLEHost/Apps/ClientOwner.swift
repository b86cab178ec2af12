/// The app that a session belongs to.
///
/// The sessions of one app have equal users and processes. A host that serves apps of other processes is told the owner
/// of each session by the program that serves them, which knows it from the kernel.
package struct ClientOwner: Hashable, Sendable {
    /// The program that the host itself runs in.
    ///
    /// All its sessions are one app, which may do everything.
    package static let program = Self(user: nil, process: nil, isAdministrator: true)

    /// The user number of an app whose user the kernel does not report; no user has this number.
    package static let unknownUser = UInt32.max

    /// The number of the user; `nil` for the program that the host runs in.
    package let user: UInt32?
    /// The number of the process; `nil` if the app does not run at present.
    package let process: Int32?
    /// True if the app may decide for all apps: answer questions of pairing, list and remove bonds, set requirements.
    package let isAdministrator: Bool

    private init(user: UInt32?, process: Int32?, isAdministrator: Bool) {
        self.user = user
        self.process = process
        self.isAdministrator = isAdministrator
    }

    /// An app in another process.
    package init(user: UInt32, process: Int32?, isAdministrator: Bool) {
        self.init(user: .some(user), process: process, isAdministrator: isAdministrator)
    }

    /// True if this is the program that the host runs in.
    var isProgram: Bool { user == nil }

    /// Returns whether both are apps of one user.
    ///
    /// Apps whose user the kernel does not report are not.
    func isSameUser(as other: Self) -> Bool { user == other.user && user != Self.unknownUser }

    /// Returns whether both are one app.
    ///
    /// An app that does not run at present is the same as no other.
    func isSameApp(as other: Self) -> Bool {
        user == other.user && process == other.process && (isProgram || process != nil)
    }
}
