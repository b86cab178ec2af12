import BLEHost
import BLEWire

/// The discovery of a server's complete database: services of both kinds, included services, characteristics and
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
/// It makes the same requests as an app that discovers everything, and one more: it also searches for secondary
/// services, because apps cannot find those that no other service includes.
///
/// Core 6.0, Vol 3, Part G, 4.4 to 4.7.
struct DatabaseDiscovery {
    /// A discovered characteristic with its descriptors.
    struct Characteristic: Equatable {
        let declared: DiscoveredCharacteristic
        fileprivate(set) var descriptors: [DiscoveredDescriptor] = []
    }

    /// A discovered service with its characteristics.
    struct Service: Equatable {
        let declared: DiscoveredService
        fileprivate(set) var characteristics: [Characteristic] = []
    }

    private enum State {
        case primary
        case secondary
        case includes(of: Int)
        case characteristics(of: Int)
        case descriptors(of: Int, Int)
    }

    enum Step {
        case ask(AttributeQuestion)
        case finished(Found<Service>)
    }

    private var state = State.primary
    private var services: [Service] = []

    func begin() -> Step { .ask(.app(.discoverServices(only: []))) }

    /// Processes the answer to the last request, and returns the next step.
    mutating func receive(_ answer: AttributeOperation.Answer) -> Step {
        switch (state, answer) {
        // A server without secondary services may reject the request for them.
        case (.secondary, .failure(.att(.unsupportedGroupType))): return findIncludes(of: 0)
        case (_, .failure(let failure)): return .finished(.failure(failure))
        case (.primary, .success(.services(let found))):
            services = found.map { Service(declared: $0) }
            state = .secondary
            return .ask(.tester(.services(ServiceRangeDiscovery(secondaryIn: .all))))
        case (.secondary, .success(.services(let found))):
            services += found.map { Service(declared: $0) }
            return findIncludes(of: 0)
        case (.includes(let index), .success(.services)): return findIncludes(of: index + 1)
        case (.characteristics(let index), .success(.characteristics(let found))):
            services[index].characteristics = found.map { Characteristic(declared: $0) }
            return findDescriptors(of: index, 0)
        case (.descriptors(let index, let position), .success(.descriptors(let found))):
            services[index].characteristics[position].descriptors = found
            return findDescriptors(of: index, position + 1)
        case (_, .success): preconditionFailure("a response must match its request")
        }
    }

    private mutating func findIncludes(of index: Int) -> Step {
        guard index < services.count else { return findCharacteristics(of: 0) }
        state = .includes(of: index)
        return .ask(.app(.discoverIncludedServices(in: services[index].declared.range, only: [])))
    }

    private mutating func findCharacteristics(of index: Int) -> Step {
        guard index < services.count else { return .finished(.success(services)) }
        state = .characteristics(of: index)
        return .ask(.app(.discoverCharacteristics(in: services[index].declared.range, only: [])))
    }

    private mutating func findDescriptors(of index: Int, _ position: Int) -> Step {
        guard position < services[index].characteristics.count else { return findCharacteristics(of: index + 1) }
        state = .descriptors(of: index, position)
        let declared = services[index].characteristics[position].declared
        return .ask(.app(.discoverDescriptors(of: declared.value, in: declared.descriptorRange)))
    }
}
