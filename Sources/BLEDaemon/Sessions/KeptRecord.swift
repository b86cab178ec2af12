import BLEHost
import BLESession
import BLEWire

/// The stored form of a kept session.
package struct KeptRecord: Equatable, Packet {
    var key = AppKey()
    var state = PreservedState()
    /// The app's description of itself; `nil` if the app sent none.
    var description: AppDescription?

    mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try key.layout(&wire)
        try state.layout(&wire)
        var addition = state.addition
        // The addition follows the description, so it needs a description before it.
        if addition != nil, description == nil { description = AppDescription() }
        try wire.tail(&description)
        try wire.tail(&addition)
        state.addition = addition
    }
}
