import BLEHost
import BLERuntime
import BLEWire

/// The MTU that each end of the link supports, in octets.
struct MTU: Decodable {
    let octets: Int

    init(from decoder: any Decoder) throws {
        octets = try Bounds(ATT.defaultMTU...Int(UInt16.max), of: "octets").decode(from: decoder)
    }
}

extension AttributeHandle: Decodable {
    package init(from decoder: any Decoder) throws {
        self.init(wire: try Bounds(0...UInt16.max).decode(from: decoder))
    }
}

extension CharacteristicProperties: Decodable {
    /// Decodes the properties from the octet that a characteristic's declaration contains.
    package init(from decoder: any Decoder) throws {
        self.init(rawValue: UInt16(try Bounds(0...UInt8.max).decode(from: decoder)))
    }
}

extension AttributePermissions: Decodable {
    package init(from decoder: any Decoder) throws {
        self.init(rawValue: try Bounds(0...UInt8.max).decode(from: decoder))
    }
}
