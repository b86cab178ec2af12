package import BLEWire

/// The state that the server stores about a bonded client between two links.
///
/// Core 6.0, Vol 3, Part G, 2.5.2, 3.3.3.3 and 7.2.
package struct ClientMemory: Equatable, Sendable {
    /// A client's value of a Client Characteristic Configuration.
    package struct Configuration: Equatable, Sendable {
        /// The handle of the descriptor.
        package var handle: AttributeHandle
        /// The UUID of the characteristic.
        ///
        /// When the client connects again, the handle may belong to another characteristic.
        package var characteristic: BluetoothUUID
        package var bits: UInt16

        package init(handle: AttributeHandle, characteristic: BluetoothUUID, bits: UInt16) {
            self.handle = handle
            self.characteristic = characteristic
            self.bits = bits
        }
    }

    /// The Client Characteristic Configurations with values other than 0, in ascending order of handles.
    package var configurations: [Configuration] = []
    /// The client's value of Client Supported Features.
    package var features: ClientFeatures = []
    /// The hash of the local database when the client was last connected; `nil` if no state was stored for the client.
    package var databaseHash: UInt128?
    /// True if the client is aware of the database with the hash ``databaseHash``.
    package var isAware = true
    /// The changed range that was announced to the client, but not confirmed yet; `nil` if there is none.
    package var pendingChange: AttributeHandleRange?

    package init() {}
}

/// The first octet of Client Supported Features.
///
/// Core 6.0, Vol 3, Part G, 7.2.
package struct ClientFeatures: OptionSet, Hashable, Sendable {
    package let rawValue: UInt8
    package init(rawValue: UInt8) { self.rawValue = rawValue }

    /// The client supports robust caching.
    package static let robustCaching = Self(rawValue: 0x01)
    package static let enhancedBearers = Self(rawValue: 0x02)
    package static let multipleNotifications = Self(rawValue: 0x04)

    /// All defined features.
    package static let all: Self = [.robustCaching, .enhancedBearers, .multipleNotifications]
}

/// The clients of this host whose attributes or channels the central of one link has used.
///
/// Only these clients receive events about the central and may act on its link.
struct ServedClients {
    private(set) var all: [ClientID] = []
    private var latest: ClientID?

    /// Records that the central used an attribute or channel of a client, and returns whether that is the first time.
    mutating func note(_ client: ClientID) -> Bool {
        latest = client
        guard !all.contains(client) else { return false }
        all.append(client)
        return true
    }

    /// Returns whether `client` is the one whose attribute or channel the central used last.
    ///
    /// This method is called for each packet, so it must be very cheap.
    @inline(__always)
    func isLatest(_ client: ClientID) -> Bool { latest?.rawValue == client.rawValue }

    /// Removes a client whose session has ended.
    mutating func remove(_ client: ClientID) {
        all.removeAll { $0 == client }
        if latest == client { latest = nil }
    }
}
