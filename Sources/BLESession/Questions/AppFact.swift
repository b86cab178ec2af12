package import BLEHost
package import BLEWire

/// A description of an app's session for people.
package struct AppFact: Equatable, Packet {
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

    /// The process of the app; `nil` if it has ended and the session continues.
    package var process: UInt32?
    /// The user number.
    package var user: UInt32 = 0
    /// The program file, if the daemon can see it.
    package var program = ""
    package var role = ClientRole.central
    package var phase = AppPhase.foreground
    /// The restore identifier of the session.
    package var restoreIdentifier: String?
    /// The name of the radio.
    package var radio = ""
    package var links: [Link] = []
    /// The session's use of the radio.
    package var use = RadioUse()

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
}

/// The permissions of an app, for itself and for people.
package struct GrantFact: Equatable, Packet {
    /// A role.
    private struct Role: Packet {
        var role = ClientRole.central
        mutating func layout(_ wire: inout some AnyWire) throws(PacketError) { try wire.field(&role, "Role") }
    }

    package var user: UInt32 = 0
    package var program = ""
    package var roles: [ClientRole] = []
    /// The radios; `nil` for all.
    package var radios: [String]?
    /// The services; `nil` for all.
    package var services: [BluetoothUUID]?
    package var pairs = false
    package var seesAddresses = false
    /// True if it may decide for the apps of all users.
    package var isAdministrator = false
    /// The rule that grants them.
    package var origin = ""

    package init() {}

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.integer(&user, "User")
        try wire.text(&program, "Program")
        var roles = roles.map { Role(role: $0) }
        try wire.sequence(&roles, "Role")
        self.roles = roles.map(\.role)
        var radios = radios.map { ListOf($0.map(Text.init)) }
        try wire.optional(&radios, "Radios")
        self.radios = radios?.elements.map(\.text)
        var services = services.map { ListOf($0) }
        try wire.optional(&services, "Services")
        self.services = services?.elements
        try wire.flag(&pairs, "Pairing")
        try wire.flag(&seesAddresses, "Addresses")
        try wire.text(&origin, "Origin")
        var mark = Numbering(isAdministrator ? 1 : 0)
        try wire.tail(&mark)
        isAdministrator = mark != nil
    }
}
