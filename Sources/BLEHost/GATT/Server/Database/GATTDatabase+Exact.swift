package import BLEWire

extension GATTDatabase {
    /// A service at given handles; its range may contain handles without an attribute.
    package struct ExactService: Equatable, Sendable {
        package var uuid: BluetoothUUID
        package var isPrimary: Bool
        /// The handles from the service declaration to the end of the service.
        package var range: AttributeHandleRange
        /// The included services, characteristics and descriptors, in any order.
        package var items: [ExactItem]

        package init(uuid: BluetoothUUID, isPrimary: Bool, range: AttributeHandleRange, items: [ExactItem]) {
            self.uuid = uuid
            self.isPrimary = isPrimary
            self.range = range
            self.items = items
        }
    }

    /// An included service, characteristic or descriptor at given handles.
    package enum ExactItem: Equatable, Sendable {
        case include(AttributeHandle, BluetoothUUID, AttributeHandleRange)
        /// A characteristic: the declaration's handle, and in `value` the handle of the value and its initial content.
        case characteristic(
            AttributeHandle,
            BluetoothUUID,
            CharacteristicProperties,
            value: (AttributeHandle, [UInt8]),
            AttributePermissions
        )
        case descriptor(AttributeHandle, BluetoothUUID, AttributePermissions, [UInt8])

        package static func == (a: Self, b: Self) -> Bool {
            a.attributes == b.attributes
        }

        /// The attributes of the item, in ascending order of handles.
        fileprivate var attributes: [Attribute] {
            switch self {
            case .include(let handle, let uuid, let range):
                var builder = AttributeBuilder(from: handle)
                builder.declareInclude(uuid, range)
                return builder.attributes
            case .characteristic(let handle, let uuid, let properties, let value, let permissions):
                var builder = AttributeBuilder(from: handle)
                builder.declareCharacteristic(uuid, properties, value: value.0)
                builder.skip(to: value.0)
                builder.append(uuid, permissions, .stored(value.1))
                return builder.attributes
            case .descriptor(let handle, let uuid, let permissions, let value):
                var builder = AttributeBuilder(from: handle)
                builder.append(uuid, permissions, .stored(value))
                return builder.attributes
            }
        }
    }

    /// Creates a database with exactly these services.
    ///
    /// The host stores all values, and peers can write them as their permissions allow. No other attributes are added,
    /// so Client Characteristic Configurations must be among the descriptors.
    ///
    /// - Returns: `nil` if services overlap, if an attribute is outside of its service, or if two attributes have the
    ///   same handle.
    package init?(exactly services: [ExactService]) {
        self.init()
        for service in services.sorted(by: { $0.range.start < $1.range.start }) {
            var builder = AttributeBuilder(from: service.range.start)
            builder.declareService(service.uuid, isPrimary: service.isPrimary)
            let members = builder.attributes + service.items.flatMap(\.attributes).sorted { $0.handle < $1.handle }
            let isBehind = self.services.last.map { $0.range.end < service.range.start } ?? true
            guard isBehind, members.allSatisfy({ service.range.contains($0.handle) }),
                zip(members, members.dropFirst()).allSatisfy({ $0.handle < $1.handle })
            else { return nil }
            let declaration = Service(
                range: service.range,
                uuid: service.uuid,
                isPrimary: service.isPrimary,
                owner: nil
            )
            append(declaration, members)
        }
    }
}

extension AttributeLayer {
    /// Sends a value as a notification or indication to a peer, even if the peer has not subscribed.
    ///
    /// An indication is sent after the queued indications, and ``Output/confirmed(_:_:)`` reports its confirmation. The
    /// method is for tools that have their own database.
    package mutating func send(
        _ value: [UInt8],
        of handle: AttributeHandle,
        _ subscription: Subscription,
        on link: ConnectionHandle,
        at now: Instant
    ) {
        guard let index = index(of: link) else { return outbox.append(.note(.unknownLink(link))) }
        switch subscription {
        case .none: break
        case .notifications: notify(value, of: handle, nil, at: BearerPosition(link: index))
        case .indications: submit(.value(handle, value, update: nil), at: BearerPosition(link: index), now)
        }
    }
}
