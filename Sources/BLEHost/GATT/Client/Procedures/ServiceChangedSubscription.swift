package import BLEWire

/// A procedure that discovers a peer's GATT service and subscribes to Service Changed.
///
///        ┌─────────┐     ┌─────────┐     ┌────────────┐     ┌─────────────┐
///        │ finding │ ──▶ │ listing │ ──▶ │ describing │ ──▶ │ configuring │ ─▶ finished with the value's handle
///        └─────────┘     └─────────┘     └────────────┘     └─────────────┘
///             │ no service    │ no value       │ rejected          │ rejected
///             └───────────────┴────────────────┴───────────────────┴────────▶ finished without a handle
///
/// Core 6.0, Vol 3, Part G, 7.1 and 7.2.
struct ServiceChangedSubscription: Sendable {
    /// The handles of the peer's values; `nil` for a value that does not exist or cannot be used.
    struct Outcome: Equatable, Sendable {
        /// The handle of Service Changed.
        var serviceChanged: AttributeHandle?
        /// The handle of Client Supported Features.
        var features: AttributeHandle?
    }

    private enum State: Sendable {
        case finding(AttributeDiscovery)
        case listing(AttributeDiscovery)
        case describing(AttributeDiscovery, of: DiscoveredCharacteristic)
        case configuring(AttributeHandle, ConfigurationWriting)
    }

    private static let write: UInt8 = 0x08
    private static let indicate: UInt8 = 0x20

    private let limit: Int
    private var state: State
    private var outcome = Outcome()

    /// Creates the procedure.
    ///
    /// - Parameters:
    ///   - service: The handles of the GATT service; `nil` if they are not known.
    ///   - limit: The maximum number of attributes to store.
    init(in service: AttributeHandleRange?, limit: Int) {
        self.limit = limit
        state =
            service.map { .listing(AttributeDiscovery(.characteristics(in: $0, only: []), limit: limit)) }
            ?? .finding(AttributeDiscovery(.services(only: [GATT.genericAttribute]), limit: limit))
    }

    /// A procedure that has not started, and that searches for the GATT service again.
    var restarted: Self { Self(in: nil, limit: limit) }

    mutating func begin(_ database: inout PeerDatabase, mtu: Int) -> ProcedureStep<Outcome> {
        switch state {
        case .finding(var lookup):
            let step = lookup.begin(&database, mtu: mtu)
            state = .finding(lookup)
            return list(after: step, &database, mtu: mtu)
        case .listing(var lookup):
            let step = lookup.begin(&database, mtu: mtu)
            state = .listing(lookup)
            return describe(after: step, &database, mtu: mtu)
        case .describing, .configuring: preconditionFailure("the subscription may be begun only once")
        }
    }

    mutating func receive(
        _ answer: ATTAnswer,
        _ database: inout PeerDatabase,
        mtu: Int
    ) -> ProcedureStep<Outcome> {
        switch state {
        case .finding(var lookup):
            let step = lookup.receive(answer, &database, mtu: mtu)
            state = .finding(lookup)
            return list(after: step, &database, mtu: mtu)
        case .listing(var lookup):
            let step = lookup.receive(answer, &database, mtu: mtu)
            state = .listing(lookup)
            return describe(after: step, &database, mtu: mtu)
        case .describing(var lookup, let characteristic):
            let step = lookup.receive(answer, &database, mtu: mtu)
            state = .describing(lookup, of: characteristic)
            return configure(characteristic, after: step)
        case .configuring(let value, var writing):
            let step = writing.receive(answer)
            state = .configuring(value, writing)
            return finish(value, step)
        }
    }

    private mutating func list(
        after step: AttributeDiscovery.Step,
        _ database: inout PeerDatabase,
        mtu: Int
    ) -> ProcedureStep<Outcome> {
        switch step {
        case .request(let packet): return .request(packet)
        case .finished(let result):
            guard case .success(.services(let found)) = result, let service = found.first else {
                return .finished(outcome)
            }
            var lookup = AttributeDiscovery(.characteristics(in: service.range, only: []), limit: limit)
            let step = lookup.begin(&database, mtu: mtu)
            state = .listing(lookup)
            return describe(after: step, &database, mtu: mtu)
        }
    }

    private mutating func describe(
        after step: AttributeDiscovery.Step,
        _ database: inout PeerDatabase,
        mtu: Int
    ) -> ProcedureStep<Outcome> {
        switch step {
        case .request(let packet): return .request(packet)
        case .finished(let result):
            guard case .success(.characteristics(let found)) = result else { return .finished(outcome) }
            outcome.features =
                found.first { $0.uuid == GATT.clientFeatures && $0.properties & Self.write != 0 }?.value
            guard let value = found.first(where: { $0.uuid == GATT.serviceChanged }),
                value.properties & Self.indicate != 0
            else { return .finished(outcome) }
            var lookup = AttributeDiscovery(.descriptors(of: value.value, in: value.descriptorRange), limit: limit)
            let step = lookup.begin(&database, mtu: mtu)
            state = .describing(lookup, of: value)
            return configure(value, after: step)
        }
    }

    private mutating func configure(
        _ characteristic: DiscoveredCharacteristic,
        after step: AttributeDiscovery.Step
    ) -> ProcedureStep<Outcome> {
        switch step {
        case .request(let packet): return .request(packet)
        case .finished(let result):
            guard case .success(.descriptors(let found)) = result,
                let configuration = found.first(where: { $0.uuid == GATT.clientConfiguration })
            else { return .finished(outcome) }
            var writing = ConfigurationWriting(Subscription.indications.rawValue, to: .known(configuration.handle))
            let step = writing.begin()
            state = .configuring(characteristic.value, writing)
            return finish(characteristic.value, step)
        }
    }

    private mutating func finish(
        _ value: AttributeHandle,
        _ step: ProcedureStep<ConfigurationWriting.Outcome>
    ) -> ProcedureStep<Outcome> {
        switch step {
        case .request(let packet): return .request(packet)
        case .finished(let written):
            if written.failure == nil { outcome.serviceChanged = value }
            return .finished(outcome)
        }
    }
}

extension DiscoveredCharacteristic {
    /// The range of the characteristic's descriptors; `nil` if it is empty.
    package var descriptorRange: AttributeHandleRange? {
        AttributeHandleRange(value, end)?.after(value)
    }
}
