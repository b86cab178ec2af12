import BLEHost
import BLERuntime
import BLESession
import BLEWire

/// The properties by which the daemon recognizes the app of a kept session.
struct AppKey: Equatable, Packet {
    /// The user ID.
    private(set) var user: UInt32 = 0
    /// The path of the program; empty if it is not known for certain.
    private(set) var program = ""
    private(set) var role = ClientRole.central
    private(set) var identifier = ""
    /// The radio, as named by the app; empty for the first radio.
    var radio = ""

    init() {}

    /// Creates the key of a requested session; returns `nil` if the session is not to be kept.
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
