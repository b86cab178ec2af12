package import BLEWire

/// Anything that a client does with the attributes of a peer, one request after the other.
package enum Procedure: Sendable {
    case exchangeMTU(offer: ATTPacket)
    case services(ServiceDiscovery)
    case includedServices(IncludedServiceDiscovery, in: AttributeHandleRange)
    case characteristics(CharacteristicDiscovery, in: AttributeHandleRange)
    case descriptors(DescriptorDiscovery, of: AttributeHandle)
    case read(ValueReading, AttributeHandle)
    case write(ValueWriting, AttributeHandle)
    case configure(ConfigurationWriting, of: AttributeHandle)
    case name(NameReading)
    case watch(ServiceChangedWatch)

    /// What came of it.
    package enum Outcome: Equatable, Sendable {
        /// What the server offers; `nil` if it does not negotiate.
        case mtu(UInt16?)
        case services(Found<DiscoveredService>)
        case includedServices(Found<DiscoveredService>, in: AttributeHandleRange)
        case characteristics(Found<DiscoveredCharacteristic>, in: AttributeHandleRange)
        case descriptors(Found<DiscoveredDescriptor>, of: AttributeHandle)
        case read(Result<[UInt8], Failure>, AttributeHandle)
        case written(Failure?, AttributeHandle)
        case configured(ConfigurationWriting.Outcome, of: AttributeHandle)
        case name(Result<String, Failure>)
        /// The value in which the peer says that services changed; `nil` if it has none.
        case watching(AttributeHandle?)
    }

    /// Begins, on a bearer whose packets have at most `mtu` octets.
    package mutating func begin(mtu: Int) -> ProcedureStep<Outcome> {
        switch self {
        case .exchangeMTU(let offer): return .request(offer)
        case .services(let machine): return machine.begin().map { .services($0) }
        case .includedServices(let machine, let range):
            return machine.begin().map { .includedServices($0, in: range) }
        case .characteristics(let machine, let range):
            return machine.begin().map { .characteristics($0, in: range) }
        case .descriptors(let machine, let handle): return machine.begin().map { .descriptors($0, of: handle) }
        case .read(var machine, let handle):
            defer { self = .read(machine, handle) }
            return machine.begin(mtu: mtu).map { .read($0, handle) }
        case .write(var machine, let handle):
            defer { self = .write(machine, handle) }
            return machine.begin(mtu: mtu).map { .written($0, handle) }
        case .configure(var machine, let handle):
            defer { self = .configure(machine, of: handle) }
            return machine.begin().map { .configured($0, of: handle) }
        case .name(let machine): return machine.begin().map { .name($0) }
        case .watch(let machine): return machine.begin().map { .watching($0) }
        }
    }

    /// Takes the answer to the request that the last step sent.
    package mutating func receive(_ answer: ATTAnswer, mtu: Int) -> ProcedureStep<Outcome> {
        switch self {
        case .exchangeMTU:
            guard case .success(.exchangeMTUResponse(let response)) = answer else { return .finished(.mtu(nil)) }
            return .finished(.mtu(response.serverMTU))
        case .services(var machine):
            defer { self = .services(machine) }
            return machine.receive(answer).map { .services($0) }
        case .includedServices(var machine, let range):
            defer { self = .includedServices(machine, in: range) }
            return machine.receive(answer).map { .includedServices($0, in: range) }
        case .characteristics(var machine, let range):
            defer { self = .characteristics(machine, in: range) }
            return machine.receive(answer).map { .characteristics($0, in: range) }
        case .descriptors(var machine, let handle):
            defer { self = .descriptors(machine, of: handle) }
            return machine.receive(answer).map { .descriptors($0, of: handle) }
        case .read(var machine, let handle):
            defer { self = .read(machine, handle) }
            return machine.receive(answer, mtu: mtu).map { .read($0, handle) }
        case .write(var machine, let handle):
            defer { self = .write(machine, handle) }
            return machine.receive(answer, mtu: mtu).map { .written($0, handle) }
        case .configure(var machine, let handle):
            defer { self = .configure(machine, of: handle) }
            return machine.receive(answer).map { .configured($0, of: handle) }
        case .name(var machine):
            defer { self = .name(machine) }
            return machine.receive(answer, mtu: mtu).map { .name($0) }
        case .watch(var machine):
            defer { self = .watch(machine) }
            return machine.receive(answer).map { .watching($0) }
        }
    }

    /// Whether write commands must wait for it: the server holds parts of a value that is not written yet.
    package var holdsParts: Bool {
        if case .write(let machine, _) = self { machine.holdsParts } else { false }
    }

    /// Whether it must be carried through although nobody waits for it any more, since the server would be left with
    /// half of it.
    package var mustGoOn: Bool {
        switch self {
        case .configure: true
        case .write: holdsParts
        case .exchangeMTU, .services, .includedServices, .characteristics, .descriptors, .read, .name, .watch: false
        }
    }

    /// Ends early with `failure` if nothing is spoiled by that, at the next answer.
    package mutating func withdraw(_ failure: Failure) {
        guard case .write(var machine, let handle) = self else { return }
        machine.withdraw(failure)
        self = .write(machine, handle)
    }
}
