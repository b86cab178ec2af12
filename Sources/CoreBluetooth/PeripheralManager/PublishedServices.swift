import BLEHost

/// The published services of a peripheral manager, and the identifiers that the host uses for their attributes.
struct PublishedServices {
    private struct Record {
        let service: CBMutableService
        let characteristics: [CBMutableCharacteristic]
        let definition: ServiceDefinition
    }

    /// The services in the order of their publication.
    private var records: [Record] = []
    private var characteristics: [LocalAttributeID: CBMutableCharacteristic] = [:]
    /// The services whose publication the host has not answered yet, including those that the app has since removed.
    private var awaited: [LocalAttributeID: CBMutableService] = [:]
    private var lastID: UInt32 = 0

    func characteristic(_ id: LocalAttributeID) -> CBMutableCharacteristic? { characteristics[id] }

    /// The definitions of all services, for publishing the services again when the radio returns.
    var definitions: [ServiceDefinition] { records.map(\.definition) }

    /// Marks a service and its attributes as published, so that they cannot be changed, and gives them identifiers.
    ///
    /// Returns the definition for the host.
    mutating func publish(_ snapshot: ServiceSnapshot, by publisher: ManagerReference) -> ServiceDefinition {
        var definition = snapshot.definition
        definition.id = nextID()
        definition.includes = snapshot.includes.compactMap(\.published?.id)
        for (index, characteristic) in snapshot.characteristics.enumerated() {
            let id = nextID()
            definition.characteristics[index].id = id
            for descriptor in definition.characteristics[index].descriptors.indices {
                definition.characteristics[index].descriptors[descriptor].id = nextID()
            }
            characteristics[id] = characteristic
            characteristic.published = Publication(id: id, publisher: publisher)
        }
        snapshot.service.published = Publication(id: definition.id, publisher: publisher)
        awaited[definition.id] = snapshot.service
        records.append(
            Record(service: snapshot.service, characteristics: snapshot.characteristics, definition: definition)
        )
        return definition
    }

    /// Restores a service that an earlier launch of the app published and that the host still has.
    ///
    /// The services that it includes must be restored first.
    mutating func restore(_ restored: RestoredService, by publisher: ManagerReference) {
        let definition = restored.definition
        restored.service.includedServices = definition.includes.compactMap { id in
            records.first { $0.definition.id == id }?.service
        }
        for (characteristic, known) in zip(restored.characteristics, definition.characteristics) {
            characteristics[known.id] = characteristic
            characteristic.published = Publication(id: known.id, publisher: publisher)
        }
        restored.service.published = Publication(id: definition.id, publisher: publisher)
        let members = definition.characteristics.flatMap { [$0.id] + $0.descriptors.map(\.id) }
        lastID = max(lastID, (members + [definition.id]).map(\.rawValue).max() ?? 0)
        records.append(
            Record(service: restored.service, characteristics: restored.characteristics, definition: definition)
        )
    }

    /// Processes the host's answer to the publication of a service.
    ///
    /// Returns the service to report to the delegate; `nil` if it was already reported.
    ///
    /// A service that was reported stays published even if the host refuses it later. That happens if the radio is gone
    /// when the service is published again; the host receives the service once more when the radio returns.
    mutating func answered(_ id: LocalAttributeID, success: Bool) -> CBMutableService? {
        guard let service = awaited.removeValue(forKey: id) else { return nil }
        if !success, let index = records.firstIndex(where: { $0.definition.id == id }) { withdraw(at: index) }
        return service
    }

    enum OnWithdraw: Equatable {
        /// Send a request to the host.
        case send(LocalAttributeID)
        /// Other services include this one.
        case inUse
        /// The service is not published by this manager.
        case unknown
    }

    /// Removes a service, which the app can change again afterwards.
    mutating func withdraw(_ service: CBMutableService) -> OnWithdraw {
        guard let index = records.firstIndex(where: { $0.service === service }) else { return .unknown }
        let id = records[index].definition.id
        guard !records.contains(where: { $0.definition.includes.contains(id) }) else { return .inUse }
        withdraw(at: index)
        return .send(id)
    }

    mutating func withdrawAll() { while !records.isEmpty { withdraw(at: records.count - 1) } }

    /// Drops all subscriptions, because all centrals have been disconnected.
    func unsubscribeAll() { for characteristic in characteristics.values { characteristic.unsubscribeAll() } }

    private mutating func withdraw(at index: Int) {
        let record = records.remove(at: index)
        record.service.published = nil
        for (characteristic, definition) in zip(record.characteristics, record.definition.characteristics) {
            characteristics.removeValue(forKey: definition.id)
            characteristic.published = nil
            characteristic.unsubscribeAll()
        }
    }

    private mutating func nextID() -> LocalAttributeID {
        lastID += 1
        return LocalAttributeID(rawValue: lastID)
    }
}
