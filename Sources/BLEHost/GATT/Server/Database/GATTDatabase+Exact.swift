package import BLEWire

extension GATTDatabase {
    /// A service with handles that someone else has chosen, gaps and all.
    package struct ExactService: Equatable, Sendable {
        package var uuid: BluetoothUUID
        package var isPrimary: Bool
        /// From the declaration to the end of the group.
        package var range: AttributeHandleRange
        /// In any order.
        package var items: [ExactItem]

        package init(uuid: BluetoothUUID, isPrimary: Bool, range: AttributeHandleRange, items: [ExactItem]) {
            self.uuid = uuid
            self.isPrimary = isPrimary
            self.range = range
            self.items = items
        }
    }

    /// A part of a service with handles that someone else has chosen.
    package enum ExactItem: Equatable, Sendable {
        case include(AttributeHandle, BluetoothUUID, AttributeHandleRange)
        /// `value` is where the value is, and what it is before anyone writes it.
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

        /// The attributes that the item consists of, in ascending order.
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

    /// Creates a database of just these services, whose values the host keeps and peers may write.
    ///
    /// Nothing comes by itself: configurations are descriptors like any other.
    ///
    /// - Returns: `nil` if services overlap, if an attribute is outside of its service, or if two attributes have one
    ///   handle.
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
    /// Sends a value to a peer, whatever the peer has asked for: a notification, or an indication when it is its turn.
    ///
    /// For tools that serve a database of their own making; ``Output/confirmed(_:_:)`` tells of a confirmation.
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
        case .notifications: notify(value, of: handle, nil, at: Place(link: index))
        case .indications: submit(.value(handle, value, update: nil), at: Place(link: index), now)
        }
    }
}
