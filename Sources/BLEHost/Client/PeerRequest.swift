package import BLEWire

/// What a client asks of a peer that it is connected to.
package enum PeerRequest: Equatable, Sendable {
    /// Carried out in the order in which a client makes these, however many packets each takes.
    case attribute(AttributeRequest)
    /// Carried out at once.
    case link(LinkRequest)
    /// Opens a credit-based channel at once; answered by ``PeerEvent/channelOpened(_:_:)``.
    case openChannel(SPSM)

    /// How this is answered if it comes to nothing.
    package func answer(_ failure: Failure) -> PeerEvent {
        switch self {
        case .attribute(let request): request.answer(failure)
        case .link(let request): request.answer(failure)
        case .openChannel(let psm): .channelOpened(psm, .failure(failure))
        }
    }

    /// Whether it is carried out on an attribute in `range`.
    package func isAbout(_ range: AttributeHandleRange) -> Bool {
        if case .attribute(let request) = self { request.isAbout(range) } else { false }
    }
}

/// What a client asks about the attributes of a peer.
package enum AttributeRequest: Equatable, Sendable {
    /// Finds primary services, all or those of the given types; answered by ``PeerEvent/servicesDiscovered(_:)``.
    case discoverServices(only: [BluetoothUUID])
    /// Answered by ``PeerEvent/includedServicesDiscovered(in:_:)``.
    case discoverIncludedServices(in: AttributeHandleRange, only: [BluetoothUUID])
    /// Answered by ``PeerEvent/characteristicsDiscovered(in:_:)``.
    case discoverCharacteristics(in: AttributeHandleRange, only: [BluetoothUUID])
    /// `in` begins after the characteristic value and ends with the characteristic; `nil` if nothing follows the value.
    /// Answered by ``PeerEvent/descriptorsDiscovered(of:_:)`` with the value's handle.
    case discoverDescriptors(of: AttributeHandle, in: AttributeHandleRange?)
    /// Reads a characteristic value or descriptor, however long; answered by ``PeerEvent/valueRead(_:_:)``.
    case read(AttributeHandle)
    /// Writes a value, with prepared writes if it is long; answered by ``PeerEvent/valueWritten(_:_:)``.
    case write(AttributeHandle, [UInt8])
    /// Writes without an answer, and overtakes nothing; ``PeerEvent/writeCommandsTaken(_:)`` says when it has left the
    /// host.
    case writeCommand(AttributeHandle, [UInt8])
    /// Turns notifications or indications of a characteristic on or off; answered by
    /// ``PeerEvent/subscriptionChanged(_:_:_:)``.
    ///
    /// `in` is where the characteristic's descriptors lie, as in ``discoverDescriptors(of:in:)``.
    case subscribe(Subscription, to: AttributeHandle, in: AttributeHandleRange?)
    /// Forgets what the host has learnt of the peer's attributes, here and in the bond with it, so that the next
    /// discovery asks the peer; answered by ``PeerEvent/databaseForgotten(_:)``.
    ///
    /// What the client subscribed to is turned off; other clients keep what they have.
    case forgetDatabase

    /// Whether it is carried out on an attribute in `range`.
    package func isAbout(_ range: AttributeHandleRange) -> Bool {
        switch self {
        case .discoverServices, .forgetDatabase: false
        case .discoverIncludedServices(let place, _), .discoverCharacteristics(let place, _): place.overlaps(range)
        case .discoverDescriptors(let handle, _), .read(let handle), .write(let handle, _),
            .writeCommand(let handle, _), .subscribe(_, let handle, _):
            range.contains(handle)
        }
    }

    /// Whether nobody answers it.
    package var isWriteCommand: Bool {
        if case .writeCommand = self { true } else { false }
    }

    /// How this is answered if it comes to nothing.
    package func answer(_ failure: Failure) -> PeerEvent {
        switch self {
        case .discoverServices: .servicesDiscovered(.failure(failure))
        case .discoverIncludedServices(let range, _): .includedServicesDiscovered(in: range, .failure(failure))
        case .discoverCharacteristics(let range, _): .characteristicsDiscovered(in: range, .failure(failure))
        case .discoverDescriptors(let handle, _): .descriptorsDiscovered(of: handle, .failure(failure))
        case .read(let handle): .valueRead(handle, .failure(failure))
        case .write(let handle, _): .valueWritten(handle, failure)
        case .writeCommand: .writeCommandsTaken(1)
        case .subscribe(_, let handle, _): .subscriptionChanged(handle, .none, failure)
        case .forgetDatabase: .databaseForgotten(failure)
        }
    }
}

/// What a client asks about the link to a peer.
package enum LinkRequest: Equatable, Sendable {
    /// Answered by ``PeerEvent/rssiRead(_:)``.
    case readRSSI
    /// Answered by ``PeerEvent/tuned(_:_:)`` when the controllers have agreed, or not.
    case tune(LinkTuning)

    /// How this is answered if it comes to nothing.
    package func answer(_ failure: Failure) -> PeerEvent {
        switch self {
        case .readRSSI: .rssiRead(.failure(failure))
        case .tune(let tuning): .tuned(tuning, failure)
        }
    }
}

// Who asks need not name the kind of what is asked.
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

/// What a client has a characteristic send by itself.
package enum Subscription: UInt16, Sendable {
    case none = 0, notifications = 1, indications = 2
}
