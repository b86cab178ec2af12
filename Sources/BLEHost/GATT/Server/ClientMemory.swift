package import BLEWire

/// What the own server remembers of a bonded client between two links.
///
/// Core 6.0, Vol 3, Part G, 2.5.2, 3.3.3.3 and 7.2.
package struct ClientMemory: Equatable, Sendable {
    /// What the client wrote to a Client Characteristic Configuration.
    package struct Configuration: Equatable, Sendable {
        /// The descriptor.
        package var handle: AttributeHandle
        /// The type of the characteristic: at this handle there may be another one when the client comes back.
        package var characteristic: BluetoothUUID
        package var bits: UInt16

        package init(handle: AttributeHandle, characteristic: BluetoothUUID, bits: UInt16) {
            self.handle = handle
            self.characteristic = characteristic
            self.bits = bits
        }
    }

    /// In ascending order of handles; none of them holds zero.
    package var configurations: [Configuration] = []
    /// What the client wrote to Client Supported Features.
    package var features: ClientFeatures = []
    /// The Database Hash when the client was there last; `nil` if it never was.
    package var databaseHash: UInt128?
    /// Whether the client knows the database of that hash.
    package var isAware = true
    /// Where services changed, if the client wants to hear of that and has not yet confirmed that it did.
    package var pendingChange: AttributeHandleRange?

    package init() {}
}

/// What a client can do beyond what every client can: the first octet of Client Supported Features.
///
/// Core 6.0, Vol 3, Part G, 7.2.
package struct ClientFeatures: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// It wants to be told when it uses a database that has changed.
    package static let robustCaching = Self(rawValue: 0x01)
    package static let enhancedBearers = Self(rawValue: 0x02)
    package static let multipleNotifications = Self(rawValue: 0x04)

    /// Those that there are.
    package static let all: Self = [.robustCaching, .enhancedBearers, .multipleNotifications]
}
