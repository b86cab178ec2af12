package import BLEHost
package import BLEWire

/// A description of an app's session, which `ble` shows.
package struct SessionInfo: Equatable, Packet {
    /// A link of the session.
    package struct Link: Equatable, Packet {
        package var peer: PeerIdentifier
        package var name: String?

        package init() { self.init(peer: .blank, name: nil) }

        package init(peer: PeerIdentifier, name: String?) {
            self.peer = peer
            self.name = name
        }

        package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
            try wire.field(&peer, "Peer")
            try wire.text(&name, "Name")
        }
    }

    /// The process ID of the app; `nil` if the app has ended and its session is kept.
    package var process: UInt32?
    /// The user ID.
    package var user: UInt32 = 0
    /// The path of the program; empty if the daemon cannot see it.
    package var program = ""
    package var role = ClientRole.central
    package var phase = AppPhase.foreground
    /// The restore identifier of the session; `nil` if the session has none.
    package var restoreIdentifier: String?
    /// The name of the radio.
    package var radio = ""
    package var links: [Link] = []
    /// The session's use of the radio.
    package var use = RadioUse()
    /// The number of advertising reports that the app has lost because it is too slow.
    ///
    /// ``Answer/apps(_:)`` has these numbers after the sessions, because older versions do not know them.
    package var droppedReports: UInt64 = 0

    package init() {}

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        var number = process.map { Number(wire: $0) }
        try wire.optional(&number, blank: Number(wire: 0), "Process")
        process = number?.wire
        try wire.integer(&user, "User")
        try wire.text(&program, "Program")
        try wire.field(&role, "Role")
        try wire.field(&phase, "Phase")
        try wire.text(&restoreIdentifier, "Restore Identifier")
        try wire.text(&radio, "Radio")
        try wire.sequence(&links, "Link")
        try use.layout(&wire)
    }

    private struct Number: WireField {
        let wire: UInt32
    }

    /// A packet that contains ``droppedReports`` of one session.
    struct Losses: Packet {
        var total: UInt64 = 0
        mutating func layout(_ wire: inout some AnyWire) throws(PacketError) { try wire.integer(&total, "Total") }
    }
}

/// A description of an app's permissions, for the app itself and for `ble`.
package struct AppPermissions: Equatable, Packet {
    /// A packet that contains a role.
    private struct Role: Packet {
        var role = ClientRole.central
        mutating func layout(_ wire: inout some AnyWire) throws(PacketError) { try wire.field(&role, "Role") }
    }

    package var user: UInt32 = 0
    package var program = ""
    package var roles: [ClientRole] = []
    /// The radios that the app may use; `nil` for all.
    package var radios: [String]?
    /// The services that the app may use and publish; `nil` for all.
    package var services: [BluetoothUUID]?
    package var pairs = false
    package var seesAddresses = false
    /// True if the app may act for the apps of all users: answer their pairing questions, see and remove their bonds,
    /// and set requirements for all pairings.
    package var isAdministrator = false
    /// The rule that grants these permissions.
    package var origin = ""

    package init() {}

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.integer(&user, "User")
        try wire.text(&program, "Program")
        var roles = roles.map { Role(role: $0) }
        try wire.sequence(&roles, "Role")
        self.roles = roles.map(\.role)
        var radios = radios.map { PacketList($0.map(Text.init)) }
        try wire.optional(&radios, "Radios")
        self.radios = radios?.elements.map(\.text)
        var services = services.map { PacketList($0) }
        try wire.optional(&services, "Services")
        self.services = services?.elements
        try wire.flag(&pairs, "Pairing")
        try wire.flag(&seesAddresses, "Addresses")
        try wire.text(&origin, "Origin")
        var mark = TrailingNumber(isAdministrator ? 1 : 0)
        try wire.tail(&mark)
        isAdministrator = mark != nil
    }
}
