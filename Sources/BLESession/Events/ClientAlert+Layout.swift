package import BLEHost
package import BLEWire

extension ClientAlert.Occasion: WireField {
    package init?(wire: UInt8) {
        switch wire {
        case 1: self = .connection
        case 2: self = .disconnection
        case 3: self = .notification
        default: return nil
        }
    }

    package var wire: UInt8 {
        switch self {
        case .connection: 1
        case .disconnection: 2
        case .notification: 3
        }
    }
}

extension ClientAlert: Packet {
    package init() { self.init(.connection, of: "", with: .blank, called: nil) }

    package mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.field(&occasion, "Occasion")
        try wire.text(&app, "App")
        try wire.field(&peer, "Peer")
        try wire.text(&name, "Name")
    }
}
