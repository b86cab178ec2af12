import BLEHost
import BLERuntime
import BLESession
import BLEWire

/// By what a session with a restore identifier is known to be of the same app as before.
struct AppKey: Equatable, Packet {
    /// The number of the user.
    private(set) var user: UInt32 = 0
    /// The file of the program; empty if the kernel does not tell it to the daemon.
    private(set) var program = ""
    private(set) var role = ClientRole.central
    private(set) var identifier = ""
    /// Which radio it is on.
    private(set) var radio = ""

    init() {}

    /// The key of a session that `hello` asks for; `nil` if it is not to be kept.
    init?(_ hello: Hello, of app: AppCredentials?) {
        guard let identifier = hello.restoreIdentifier, hello.role != .agent, let app else { return nil }
        user = app.user
        program = app.isProgramKnown ? app.program : ""
        role = hello.role
        self.identifier = identifier
        radio = hello.radio
    }

    mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.integer(&user, "User")
        try wire.text(&program, "Program")
        try wire.field(&role, "Role")
        try wire.text(&identifier, "Restore Identifier")
        try wire.text(&radio, "Radio")
    }
}
