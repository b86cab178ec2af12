package import BLEWire

/// Has a peer say when its services change.
///
///        ┌─────────┐      ┌──────────┐        ┌─────────────┐
///        │ service │ ───▶ │ declared │ ─────▶ │ configuring │ ─▶ finished with the value's handle
///        └─────────┘      └──────────┘        └─────────────┘
///             │ none           │ none               │ refused
///             └────────────────┴────────────────────┴─────────▶ finished without
///
/// Core 6.0, Vol 3, Part G, 7.1.
package struct ServiceChangedWatch: Sendable {
    private enum State: Sendable {
        case finding(ServiceDiscovery)
        case listing(CharacteristicDiscovery)
        case configuring(AttributeHandle, ConfigurationWriting)
    }

    private static let indicate: UInt8 = 0x20
    private var state: State

    /// Creates a watch.
    ///
    /// - Parameter service: Where the service is that tells of changes, if that is known.
    package init(in service: AttributeHandleRange? = nil) {
        state =
            service.map { .listing(CharacteristicDiscovery(in: $0, only: [GATT.serviceChanged])) }
            ?? .finding(ServiceDiscovery(only: [GATT.genericAttribute]))
    }

    /// The handle of the value that the peer will indicate; `nil` if it has no such value.
    package typealias Outcome = AttributeHandle?

    package func begin() -> ProcedureStep<Outcome> {
        switch state {
        case .finding(let discovery): discovery.begin().map { _ in nil }
        case .listing(let discovery): discovery.begin().map { _ in nil }
        case .configuring: preconditionFailure("a watch begins once")
        }
    }

    package mutating func receive(_ answer: ATTAnswer) -> ProcedureStep<Outcome> {
        switch state {
        case .finding(var discovery):
            let step = discovery.receive(answer)
            state = .finding(discovery)
            return list(after: step)
        case .listing(var discovery):
            let step = discovery.receive(answer)
            state = .listing(discovery)
            return configure(after: step)
        case .configuring(let value, var writing):
            let step = writing.receive(answer)
            state = .configuring(value, writing)
            return step.map { $0.failure == nil ? value : nil }
        }
    }

    private mutating func list(after step: ProcedureStep<Found<DiscoveredService>>) -> ProcedureStep<Outcome> {
        switch step {
        case .request(let packet): return .request(packet)
        case .finished(let result):
            guard let service = (try? result.get())?.first else { return .finished(nil) }
            let discovery = CharacteristicDiscovery(in: service.range, only: [GATT.serviceChanged])
            state = .listing(discovery)
            return discovery.begin().map { _ in nil }
        }
    }

    private mutating func configure(
        after step: ProcedureStep<Found<DiscoveredCharacteristic>>
    ) -> ProcedureStep<Outcome> {
        switch step {
        case .request(let packet): return .request(packet)
        case .finished(let result):
            guard let characteristic = (try? result.get())?.first, characteristic.properties & Self.indicate != 0 else {
                return .finished(nil)
            }
            var writing = ConfigurationWriting(
                Subscription.indications.rawValue,
                to: nil,
                in: characteristic.descriptorRange
            )
            let step = writing.begin()
            state = .configuring(characteristic.value, writing)
            return step.map { _ in nil }
        }
    }
}

extension DiscoveredCharacteristic {
    /// Where the descriptors are; `nil` if nothing follows the value.
    package var descriptorRange: AttributeHandleRange? {
        AttributeHandleRange(value, end)?.after(value)
    }
}
