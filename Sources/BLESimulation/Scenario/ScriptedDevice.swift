import BLEHost
import BLEWire

/// What stands in for the app of a ``SimulatedPeripheral``: events in, requests out.
struct ScriptedDevice {
    private struct Attribute {
        let id: LocalAttributeID
        let characteristic: SimulatedPeripheral.Characteristic
        var value: [UInt8]
        var subscribers: [PeerIdentifier] = []
        var sent = 0
        var due: Instant?
    }

    let station: Int
    let client: ClientID
    private let peripheral: SimulatedPeripheral
    private var attributes: [Attribute] = []

    init(_ peripheral: SimulatedPeripheral, station: Int, client: ClientID) {
        self.peripheral = peripheral
        self.station = station
        self.client = client
        for characteristic in peripheral.services.flatMap(\.characteristics) {
            attributes.append(
                Attribute(
                    id: LocalAttributeID(rawValue: UInt32(attributes.count)),
                    characteristic: characteristic,
                    value: characteristic.value
                )
            )
        }
    }

    /// When the next value is to be sent.
    var deadline: Instant? { attributes.compactMap(\.due).min() }

    /// Takes what the host says, and returns what the device wants of it.
    mutating func receive(_ event: ClientEvent, at now: Instant) -> [ClientRequest] {
        switch event {
        case .stateChanged(let state):
            for index in attributes.indices { stopNotifying(index) }
            return state == .poweredOn ? publication : []
        case .server(let event): return receive(event, at: now)
        case .featuresChanged, .knownPeers, .systemLinks, .discovered, .connected, .connectFailed, .disconnected,
            .peer, .channel, .security, .tester, .restored:
            return []
        }
    }

    /// Sends the values that are due.
    mutating func wake(at now: Instant) -> [ClientRequest] {
        var requests: [ClientRequest] = []
        for index in attributes.indices {
            guard let due = attributes[index].due, due <= now,
                let notifications = attributes[index].characteristic.notifications
            else { continue }
            let value = notifications.values[attributes[index].sent % notifications.values.count]
            attributes[index].sent += 1
            attributes[index].value = value
            attributes[index].due = due + max(notifications.interval, .milliseconds(1))
            requests.append(.server(.update(attributes[index].id, value, to: nil)))
        }
        return requests
    }

    private mutating func receive(_ event: ServerEvent, at now: Instant) -> [ClientRequest] {
        switch event {
        case .subscribed(let central, let id):
            guard let index = index(of: id) else { return [] }
            attributes[index].subscribers.append(central.peer)
            if attributes[index].due == nil, let notifications = attributes[index].characteristic.notifications,
                !notifications.values.isEmpty
            {
                attributes[index].due = now + max(notifications.interval, .milliseconds(1))
            }
            return []
        case .unsubscribed(let central, let id):
            guard let index = index(of: id) else { return [] }
            attributes[index].subscribers.removeAll { $0 == central.peer }
            if attributes[index].subscribers.isEmpty { stopNotifying(index) }
            return []
        case .readRequested(let transaction, _, let id, let offset):
            return [.server(.respond(transaction, read(id, from: offset)))]
        case .writeRequested(let transaction, _, let parts): return write(parts, transaction)
        case .serviceAdded, .advertisingStarted, .updatesTaken, .centralChanged, .centralsConnected,
            .channelPublished,
            .channelUnpublished, .channelOpened:
            return []
        }
    }

    private func read(_ id: LocalAttributeID, from offset: Int) -> ServerResponse {
        guard let index = index(of: id) else { return .failure(.attributeNotFound) }
        let value = attributes[index].value
        guard 0...value.count ~= offset else { return .failure(.invalidOffset) }
        return .success(Array(value[offset...]))
    }

    /// Takes all parts or none, and sends on what changed.
    private mutating func write(_ parts: [WritePart], _ transaction: ServerTransaction?) -> [ClientRequest] {
        func answer(_ response: ServerResponse) -> [ClientRequest] {
            transaction.map { [.server(.respond($0, response))] } ?? []
        }
        var values = attributes.map(\.value)
        var changed: [Int] = []
        for part in parts {
            guard let index = index(of: part.attribute) else { return answer(.failure(.attributeNotFound)) }
            guard 0...values[index].count ~= part.offset else { return answer(.failure(.invalidOffset)) }
            guard part.offset + part.value.count <= ATT.maximumValueLength else {
                return answer(.failure(.invalidAttributeValueLength))
            }
            values[index] = values[index][..<part.offset] + part.value
            if !changed.contains(index) { changed.append(index) }
        }
        for index in changed { attributes[index].value = values[index] }
        let updates: [ClientRequest] = changed.filter { !attributes[$0].subscribers.isEmpty }.map { index in
            .server(.update(attributes[index].id, values[index], to: nil))
        }
        return answer(.success([])) + updates
    }

    private mutating func stopNotifying(_ index: Int) {
        attributes[index].due = nil
        attributes[index].subscribers = []
    }

    private func index(of id: LocalAttributeID) -> Int? {
        attributes.indices.contains(Int(id.rawValue)) ? Int(id.rawValue) : nil
    }

    /// What makes the services known and the device found.
    private var publication: [ClientRequest] {
        var requests: [ClientRequest] = [.server(.removeAllServices)]
        var next = 0
        for (number, service) in peripheral.services.enumerated() {
            guard let uuid = BluetoothUUID(service.uuid) else { continue }
            let range = next..<(next + service.characteristics.count)
            next = range.upperBound
            let definition = ServiceDefinition(
                id: LocalAttributeID(rawValue: UInt32(attributes.count + number)),
                uuid: uuid,
                characteristics: range.compactMap { Self.definition(of: attributes[$0]) }
            )
            requests.append(.server(.addService(definition)))
        }
        let advertised = peripheral.services.filter(\.isAdvertised).compactMap { BluetoothUUID($0.uuid) }
        requests.append(
            .server(.startAdvertising(AdvertisingRequest(localName: peripheral.name, services: advertised)))
        )
        return requests
    }

    private static func definition(of attribute: Attribute) -> CharacteristicDefinition? {
        guard let uuid = BluetoothUUID(attribute.characteristic.uuid) else { return nil }
        var properties: CharacteristicProperties = [], permissions: AttributePermissions = []
        for property in attribute.characteristic.properties {
            switch property {
            case .read:
                properties.insert(.read)
                permissions.insert(.readable)
            case .write:
                properties.insert(.write)
                permissions.insert(.writeable)
            case .writeWithoutResponse:
                properties.insert(.writeWithoutResponse)
                permissions.insert(.writeable)
            case .notify: properties.insert(.notify)
            case .indicate: properties.insert(.indicate)
            }
        }
        return CharacteristicDefinition(id: attribute.id, uuid: uuid, properties: properties, permissions: permissions)
    }
}
