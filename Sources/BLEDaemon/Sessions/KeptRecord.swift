import BLEHost
import BLESession
import BLEWire

/// A session that goes on without its app, as it is written down.
package struct KeptRecord: Equatable, Packet {
    var key = AppKey()
    var state = PreservedState()
    /// What the app said of itself.
    var description: AppDescription?

    mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try key.layout(&wire)
        try state.layout(&wire)
        try wire.tail(&description)
    }
}
