package import BLEWire

/// What an app says of itself so that it can be launched again; it counts where the daemon learns nothing better.
///
/// A confined daemon is not told by the kernel which programs the processes of other users run.
package struct AppDescription: Packet {
    /// The file of its program; that of the interpreter for a script.
    package var program = ""
    /// The unit of the service manager that launches it; `nil` if nothing does.
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
