package import BLEWire

/// A radio of the daemon, for people.
package struct RadioFact: Equatable, Packet {
    /// The name of the radio, as in the daemon's arguments.
    package var name = ""
    /// True if Bluetooth is switched on for it.
    package var isOn = true

    package init() {}

    package init(name: String, isOn: Bool) {
        self.name = name
        self.isOn = isOn
    }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.text(&name, "Name")
        try wire.flag(&isOn, "On")
    }
}
