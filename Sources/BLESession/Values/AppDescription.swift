package import BLEWire

/// An app's description of itself for its next launch, used if the daemon learns nothing better.
///
/// The kernel does not show a confined daemon the programs of other users' processes.
package struct AppDescription: Packet {
    /// The program file; for a script, that of the interpreter.
    package var program = ""
    /// The systemd unit that launches it; `nil` if there is none.
    package var unit: String?

    package init() {}

    package init(program: String, unit: String? = nil) {
        self.program = program
        self.unit = unit
    }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.text(&program, "Program")
        try wire.text(&unit, "Unit")
    }
}
