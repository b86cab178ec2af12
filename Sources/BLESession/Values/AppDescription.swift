package import BLEWire

/// An app's description of itself, which the daemon uses to launch the app again if it has no better source.
///
/// A daemon in a sandbox has no better source, because the kernel does not show it the programs of other users'
/// processes.
package struct AppDescription: Packet {
    /// The path of the program; for a script, the path of its interpreter.
    package var program = ""
    /// The systemd unit that launches the app; `nil` if there is none.
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
