package import BLEWire

/// A radio of the daemon, for people.
package struct RadioFact: Equatable, Packet {
    /// The name by which the daemon was told to open it.
    package var name = ""
    /// Whether Bluetooth is switched on with it.
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
