import BLEHost
import BLEWire

/// Finds everything that a peer's server has: services of both kinds, what they include, their characteristics and
/// descriptors.
///
///        ┌─────────┐     ┌───────────┐     ┌──────────┐     ┌─────────────────┐
///        │ primary │ ──▶ │ secondary │ ──▶ │ includes │ ──▶ │ characteristics │ ─▶ finished
///        └─────────┘     └───────────┘     └──────────┘     └─────────────────┘
///                                           service by        │ service by  ▲
///                                           service           ▼ service     │
///                                                           ┌─────────────────┐
///                                                           │   descriptors   │
///                                                           └─────────────────┘
///
/// Core 6.0, Vol 3, Part G, 4.4 to 4.7.
struct DatabaseDiscovery: Sendable {
    /// A characteristic, and what describes it.
    struct Characteristic: Equatable, Sendable {
        let declared: DiscoveredCharacteristic
        fileprivate(set) var descriptors: [DiscoveredDescriptor] = []

        fileprivate init(_ declared: DiscoveredCharacteristic) { self.declared = declared }
    }

    /// A service, and what is in it.
    struct Service: Equatable, Sendable {
        let declared: DiscoveredService
        fileprivate(set) var includes: [DiscoveredService] = []
        fileprivate(set) var characteristics: [Characteristic] = []

        fileprivate init(_ declared: DiscoveredService) { self.declared = declared }
    }

    private enum State: Sendable {
        case services(ServiceDiscovery, isPrimary: Bool)
        case includes(IncludedServiceDiscovery, of: Int)
        case characteristics(CharacteristicDiscovery, of: Int)
        case descriptors(DescriptorDiscovery, of: Int, Int)
    }

    private var state = State.services(ServiceDiscovery(only: []), isPrimary: true)
    private var services: [Service] = []

    init() {}

    func begin() -> ProcedureStep<Found<Service>> {
        ServiceDiscovery(only: []).begin().map { _ in .success([]) }
    }

    mutating func receive(_ answer: ATTAnswer) -> ProcedureStep<Found<Service>> {
        switch state {
        case .services(var machine, let isPrimary):
            let step = machine.receive(answer)
            state = .services(machine, isPrimary: isPrimary)
            return keep(step, isPrimary: isPrimary)
        case .includes(var machine, let index):
            let step = machine.receive(answer)
            state = .includes(machine, of: index)
            return keep(step, includedBy: index)
        case .characteristics(var machine, let index):
            let step = machine.receive(answer)
            state = .characteristics(machine, of: index)
            return keep(step, of: index)
        case .descriptors(var machine, let index, let position):
            let step = machine.receive(answer)
            state = .descriptors(machine, of: index, position)
            return keep(step, of: index, position)
        }
    }

    private mutating func keep(
        _ step: ProcedureStep<Found<DiscoveredService>>,
        isPrimary: Bool
    ) -> ProcedureStep<Found<Service>> {
        switch step {
        case .request(let packet): return .request(packet)
        case .finished(.success(let found)): for service in found { services.append(Service(service)) }
        // A server that knows no secondary services may refuse to look for them.
        case .finished(.failure(.att(.unsupportedGroupType))) where !isPrimary: break
        case .finished(.failure(let failure)): return .finished(.failure(failure))
        }
        guard isPrimary else { return findIncludes(from: 0) }
        let machine = ServiceDiscovery(only: [], isPrimary: false)
        state = .services(machine, isPrimary: false)
        return machine.begin().map { _ in .success([]) }
    }

    private mutating func keep(
        _ step: ProcedureStep<Found<DiscoveredService>>,
        includedBy index: Int
    ) -> ProcedureStep<Found<Service>> {
        switch step {
        case .request(let packet): return .request(packet)
        case .finished(.failure(let failure)): return .finished(.failure(failure))
        case .finished(.success(let found)):
            services[index].includes = found
            return findIncludes(from: index + 1)
        }
    }

    private mutating func keep(
        _ step: ProcedureStep<Found<DiscoveredCharacteristic>>,
        of index: Int
    ) -> ProcedureStep<Found<Service>> {
        switch step {
        case .request(let packet): return .request(packet)
        case .finished(.failure(let failure)): return .finished(.failure(failure))
        case .finished(.success(let found)):
            for characteristic in found { services[index].characteristics.append(Characteristic(characteristic)) }
            return findDescriptors(of: index, from: 0)
        }
    }

    private mutating func keep(
        _ step: ProcedureStep<Found<DiscoveredDescriptor>>,
        of index: Int,
        _ position: Int
    ) -> ProcedureStep<Found<Service>> {
        switch step {
        case .request(let packet): return .request(packet)
        case .finished(.failure(let failure)): return .finished(.failure(failure))
        case .finished(.success(let found)):
            services[index].characteristics[position].descriptors = found
            return findDescriptors(of: index, from: position + 1)
        }
    }

    private mutating func findIncludes(from index: Int) -> ProcedureStep<Found<Service>> {
        guard let index = services[index...].firstIndex(where: \.hasRoom) else { return findCharacteristics(from: 0) }
        let machine = IncludedServiceDiscovery(in: services[index].declared.range)
        state = .includes(machine, of: index)
        return machine.begin().map { _ in .success([]) }
    }

    private mutating func findCharacteristics(from index: Int) -> ProcedureStep<Found<Service>> {
        guard let index = services[index...].firstIndex(where: \.hasRoom) else { return .finished(.success(services)) }
        let machine = CharacteristicDiscovery(in: services[index].declared.range)
        state = .characteristics(machine, of: index)
        return machine.begin().map { _ in .success([]) }
    }

    private mutating func findDescriptors(of index: Int, from position: Int) -> ProcedureStep<Found<Service>> {
        let characteristics = services[index].characteristics
        for position in characteristics.indices.dropFirst(position) {
            guard let range = characteristics[position].declared.descriptorRange else { continue }
            let machine = DescriptorDiscovery(in: range)
            state = .descriptors(machine, of: index, position)
            return machine.begin().map { _ in .success([]) }
        }
        return findCharacteristics(from: index + 1)
    }
}

extension DatabaseDiscovery.Service {
    /// Whether there can be anything behind the declaration.
    fileprivate var hasRoom: Bool { declared.range.count > 1 }
}
