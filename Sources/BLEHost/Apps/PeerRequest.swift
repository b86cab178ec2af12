package import BLEWire

/// A client's request to a connected peer.
package enum PeerRequest: Equatable, Sendable {
    /// A request about the peer's attributes. Such requests are carried out one after the other, in order.
    case attribute(AttributeRequest)
    /// A request about the link, carried out immediately.
    case link(LinkRequest)
    /// Opens a credit-based channel immediately. The result is ``PeerEvent/channelOpened(_:_:)``.
    case openChannel(SPSM)

    /// Returns the event that the client receives if the request fails with `failure`.
    package func answer(_ failure: Failure) -> PeerEvent {
        switch self {
        case .attribute(let request): request.answer(failure)
        case .link(let request): request.answer(failure)
        case .openChannel(let psm): .channelOpened(psm, .failure(failure))
        }
    }

    /// Returns whether the request concerns an attribute in `range`.
    package func isAbout(_ range: AttributeHandleRange) -> Bool {
        if case .attribute(let request) = self { request.isAbout(range) } else { false }
    }
}

/// A client's request about the attributes of a peer.
package enum AttributeRequest: Equatable, Sendable {
    /// Discovers the peer's primary services: those with the given UUIDs, or all if no UUIDs are given. The result is
    /// ``PeerEvent/servicesDiscovered(_:)``.
    case discoverServices(only: [BluetoothUUID])
    /// Discovers the services that the service with this handle range includes: those with the given UUIDs, or all if
    /// no UUIDs are given. The result is ``PeerEvent/includedServicesDiscovered(in:_:)``.
    case discoverIncludedServices(in: AttributeHandleRange, only: [BluetoothUUID])
    /// Discovers the characteristics of the service with this handle range: those with the given UUIDs, or all if no
    /// UUIDs are given. The result is ``PeerEvent/characteristicsDiscovered(in:_:)``.
    case discoverCharacteristics(in: AttributeHandleRange, only: [BluetoothUUID])
    /// Discovers the descriptors of the characteristic whose value has the handle `of`. `in` is the range from the
    /// handle after the value to the end of the characteristic; `nil` if this range is empty. The result is
    /// ``PeerEvent/descriptorsDiscovered(of:_:)``.
    case discoverDescriptors(of: AttributeHandle, in: AttributeHandleRange?)
    /// Reads a characteristic value or descriptor of any length. The result is ``PeerEvent/valueRead(_:_:)``.
    case read(AttributeHandle)
    /// Reads a value like ``read(_:)``, but fails with the peer's error if the link is not secure enough. With
    /// ``read(_:)``, the host would then pair, which may ask the user. The result is ``PeerEvent/valueRead(_:_:)``.
    case readWithoutPairing(AttributeHandle)
    /// Writes a value, with prepared writes if it is long. The result is ``PeerEvent/valueWritten(_:_:)``.
    case write(AttributeHandle, [UInt8])
    /// Writes a part of a value, always with prepared writes, even if the part is short. `offset` is the position of
    /// the part's first octet in the value. The result is ``PeerEvent/valueWritten(_:_:)``.
    ///
    /// The part must end within the first 512 octets of the value, otherwise the request fails.
    case writePart(AttributeHandle, [UInt8], offset: UInt16)
    /// Writes without response, after all earlier requests. ``PeerEvent/writeCommandsTaken(_:)`` reports when the
    /// command has left the host.
    case writeCommand(AttributeHandle, [UInt8])
    /// Subscribes to or unsubscribes from a characteristic. The result is ``PeerEvent/subscriptionChanged(_:_:_:)``.
    ///
    /// `in` is the range of the characteristic's descriptors, as in ``discoverDescriptors(of:in:)``.
    case subscribe(Subscription, to: AttributeHandle, in: AttributeHandleRange?)
    /// Forgets everything that the host has discovered about the peer's attributes, including the attributes stored
    /// with the bond, so that the next discovery asks the peer again. The result is
    /// ``PeerEvent/databaseForgotten(_:)``.
    ///
    /// The client's subscriptions end; other clients are not affected.
    case forgetDatabase

    /// Returns whether the request concerns an attribute in `range`.
    package func isAbout(_ range: AttributeHandleRange) -> Bool {
        switch self {
        case .discoverServices, .forgetDatabase: false
        case .discoverIncludedServices(let place, _), .discoverCharacteristics(let place, _): place.overlaps(range)
        case .discoverDescriptors(let handle, _), .read(let handle), .readWithoutPairing(let handle),
            .write(let handle, _), .writePart(let handle, _, _), .writeCommand(let handle, _),
            .subscribe(_, let handle, _):
            range.contains(handle)
        }
    }

    /// True for a write without response.
    package var isWriteCommand: Bool {
        if case .writeCommand = self { true } else { false }
    }

    /// Returns the event that the client receives if the request fails with `failure`.
    package func answer(_ failure: Failure) -> PeerEvent {
        switch self {
        case .discoverServices: .servicesDiscovered(.failure(failure))
        case .discoverIncludedServices(let range, _): .includedServicesDiscovered(in: range, .failure(failure))
        case .discoverCharacteristics(let range, _): .characteristicsDiscovered(in: range, .failure(failure))
        case .discoverDescriptors(let handle, _): .descriptorsDiscovered(of: handle, .failure(failure))
        case .read(let handle), .readWithoutPairing(let handle): .valueRead(handle, .failure(failure))
        case .write(let handle, _), .writePart(let handle, _, _): .valueWritten(handle, failure)
        case .writeCommand: .writeCommandsTaken(1)
        case .subscribe(_, let handle, _): .subscriptionChanged(handle, .none, failure)
        case .forgetDatabase: .databaseForgotten(failure)
        }
    }
}

/// A client's request about the link to a peer.
package enum LinkRequest: Equatable, Sendable {
    /// Reads the signal strength. The result is ``PeerEvent/rssiRead(_:)``.
    case readRSSI
    /// Requests a change of the link. The result is ``PeerEvent/tuned(_:_:)``, once the controllers have agreed or have
    /// failed to agree.
    case tune(LinkTuning)

    /// Returns the event that the client receives if the request fails with `failure`.
    package func answer(_ failure: Failure) -> PeerEvent {
        switch self {
        case .readRSSI: .rssiRead(.failure(failure))
        case .tune(let tuning): .tuned(tuning, failure)
        }
    }
}

// Shorthands for callers that do not need to name the kind of request.
extension PeerRequest {
    package static var readRSSI: Self { .link(.readRSSI) }
    package static func tune(_ tuning: LinkTuning) -> Self { .link(.tune(tuning)) }
    package static func discoverServices(only types: [BluetoothUUID]) -> Self {
        .attribute(.discoverServices(only: types))
    }
    package static func discoverIncludedServices(
        in range: AttributeHandleRange,
        only types: [BluetoothUUID]
    ) -> Self {
        .attribute(.discoverIncludedServices(in: range, only: types))
    }
    package static func discoverCharacteristics(
        in range: AttributeHandleRange,
        only types: [BluetoothUUID]
    ) -> Self {
        .attribute(.discoverCharacteristics(in: range, only: types))
    }
    package static func discoverDescriptors(of handle: AttributeHandle, in range: AttributeHandleRange?) -> Self {
        .attribute(.discoverDescriptors(of: handle, in: range))
    }
    package static func read(_ handle: AttributeHandle) -> Self { .attribute(.read(handle)) }
    package static func write(_ handle: AttributeHandle, _ value: [UInt8]) -> Self {
        .attribute(.write(handle, value))
    }
    package static func writeCommand(_ handle: AttributeHandle, _ value: [UInt8]) -> Self {
        .attribute(.writeCommand(handle, value))
    }
    package static func subscribe(
        _ subscription: Subscription,
        to handle: AttributeHandle,
        in range: AttributeHandleRange?
    ) -> Self {
        .attribute(.subscribe(subscription, to: handle, in: range))
    }
    package static var forgetDatabase: Self { .attribute(.forgetDatabase) }
}

/// A client's subscription to a characteristic.
package enum Subscription: UInt16, Sendable {
    case none = 0, notifications = 1, indications = 2
}

/// An atomic group of writes, usually just one.
package struct WriteGroup: Equatable, Sendable, RandomAccessCollection {
    private enum Parts: Equatable, Sendable {
        /// A single write, which needs no array.
        case one(WritePart)
        case several([WritePart])
    }

    private let parts: Parts

    package init(_ part: WritePart) { parts = .one(part) }

    package init(_ parts: [WritePart]) { self.parts = parts.count == 1 ? .one(parts[0]) : .several(parts) }

    package var startIndex: Int { 0 }

    package var endIndex: Int {
        switch parts {
        case .one: 1
        case .several(let parts): parts.count
        }
    }

    package subscript(position: Int) -> WritePart {
        switch parts {
        case .one(let part):
            precondition(position == 0, "a single write has no further positions")
            return part
        case .several(let parts): return parts[position]
        }
    }
}

extension WriteGroup: ExpressibleByArrayLiteral {
    package init(arrayLiteral parts: WritePart...) { self.init(parts) }
}
