package import BLEWire

/// A description of one of the daemon's radios, which `ble` shows.
package struct RadioInfo: Equatable, Packet {
    /// The name of the radio, as in the daemon's arguments.
    package var name = ""
    /// True if Bluetooth is switched on for this radio.
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
