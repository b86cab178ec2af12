import BLEHost
import BLEWire

/// The part of a ``SimulatedPeripheral`` that takes the place of an app: it processes events from the host and returns
/// requests.
struct ScriptedDevice {
    struct Attribute {
        let id: LocalAttributeID
        let uuid: BluetoothUUID
        let characteristic: SimulatedPeripheral.Characteristic
        var value: [UInt8]
        var subscribers: [PeerIdentifier] = []
        /// The number of values sent so far from the description's notifications.
        var sent = 0
        /// The time at which the next value of the description's notifications is sent; `nil` while none is to be sent.
        var nextNotification: Instant?
    }

    let station: Int
    let client: ClientID
    /// The client of the device's pairing session; `nil` until the device needs one.
    var agent: ClientID?
    private(set) var peripheral: SimulatedPeripheral
    private(set) var attributes: [Attribute] = []
    /// The behaviour that a test has set.
    var behaviour = DeviceBehaviour()
    /// The central whose display shows the passkey that the user is about to enter; `nil` if no passkey is to be
    /// entered.
    var passkeyDisplay: PeerIdentifier?
    /// The requests that are sent later, sorted by time.
    private var delayedRequests: [(due: Instant, request: ClientRequest)] = []
    private var centrals: [PeerIdentifier] = []
    private var isOn = false

    init(_ peripheral: SimulatedPeripheral, station: Int, client: ClientID) {
        self.peripheral = peripheral
        self.station = station
        self.client = client
        behaviour.refusesPairing = peripheral.pairing?.isRefused ?? false
        makeAttributes()
    }

    private mutating func makeAttributes() {
        attributes = []
        for characteristic in peripheral.services.flatMap(\.characteristics) {
            guard let uuid = BluetoothUUID(characteristic.uuid) else { continue }
            attributes.append(
                Attribute(
                    id: LocalAttributeID(rawValue: UInt32(attributes.count)),
                    uuid: uuid,
                    characteristic: characteristic,
                    value: characteristic.value
                )
            )
        }
    }

    /// The time of the next value or delayed answer; `nil` if there is none.
    var deadline: Instant? {
        let values = attributes.compactMap(\.nextNotification).min()
        guard let first = delayedRequests.first?.due else { return values }
        return min(first, values ?? first)
    }

    /// Processes an event from the host and returns the resulting requests.
    mutating func receive(_ event: ClientEvent, at now: Instant) -> [ClientRequest] {
        switch event {
        case .stateChanged(let state):
            for index in attributes.indices { stopNotifying(index) }
            (delayedRequests, centrals, isOn) = ([], [], state == .poweredOn)
            guard isOn else { return [] }
            return (peripheral.pairing == nil ? [] : [agentRequest]) + publication
        case .server(let event): return receive(event, at: now)
        case .security(let event): return receive(event)
        case .featuresChanged, .knownPeers, .systemLinks, .scanBegan, .discovered, .connected, .connectFailed,
            .disconnected, .peer, .channel, .alert, .tester, .restored:
            return []
        }
    }

    /// Returns the requests that send the values and answers that are due.
    mutating func wake(at now: Instant) -> [ClientRequest] {
        let due = delayedRequests.prefix { $0.due <= now }.map(\.request)
        delayedRequests.removeFirst(due.count)
        var requests = due
        for index in attributes.indices {
            guard let due = attributes[index].nextNotification, due <= now,
                let notifications = attributes[index].characteristic.notifications
            else { continue }
            let value = notifications.values[attributes[index].sent % notifications.values.count]
            attributes[index].sent += 1
            attributes[index].value = value
            attributes[index].nextNotification = due + max(notifications.interval, .milliseconds(1))
            requests.append(.service(.update(attributes[index].id, value, to: nil)))
        }
        return requests
    }

    /// Replaces the services.
    ///
    /// Delayed answers are still sent, but delayed values are dropped.
    mutating func replaceServices(_ services: [SimulatedPeripheral.Service]) -> [ClientRequest] {
        // Delayed values identify their characteristic by its index, which now belongs to another characteristic.
        delayedRequests.removeAll { if case .service(.update) = $0.request { true } else { false } }
        peripheral.services = services
        peripheral.requireValid()
        makeAttributes()
        return isOn ? [.server(.stopAdvertising)] + publication : []
    }

    /// Returns the requests that end the links to all centrals.
    func disconnectAll() -> [ClientRequest] { centrals.map { .server(.disconnect($0)) } }

    /// Sets the value of the characteristics of a type, and returns the requests that send it to subscribers.
    mutating func update(_ type: BluetoothUUID, _ value: [UInt8]) -> [ClientRequest] {
        attributes.indices.filter { attributes[$0].uuid == type }.map { index in
            attributes[index].value = value
            return .service(.update(attributes[index].id, value, to: nil))
        }
    }

    private mutating func receive(_ event: ServerEvent, at now: Instant) -> [ClientRequest] {
        switch event {
        case .subscribed(let central, let id): return subscribed(central, id, at: now)
        case .unsubscribed(let central, let id):
            guard let index = index(of: id) else { return [] }
            attributes[index].subscribers.removeAll { $0 == central.peer }
            if attributes[index].subscribers.isEmpty { stopNotifying(index) }
            return []
        case .readRequested(let transaction, _, let id, let offset):
            return read(id, from: offset, transaction, at: now)
        case .writeRequested(let transaction, _, let parts): return write(parts, transaction, at: now)
        case .centralsConnected(let connected):
            let new = connected.map(\.central.peer).filter { !centrals.contains($0) }
            centrals = connected.map(\.central.peer)
            if behaviour.refusesConnections { return new.map { .server(.disconnect($0)) } }
            return peripheral.latency.map { latency in new.map { .server(.setLatency($0, latency.host)) } } ?? []
        case .serviceAdded, .advertisingStarted, .updatesTaken, .confirmed, .centralChanged, .channelPublished,
            .channelUnpublished, .channelOpened:
            return []
        }
    }

    private mutating func subscribed(
        _ central: RemoteCentral,
        _ id: LocalAttributeID,
        at now: Instant
    ) -> [ClientRequest] {
        guard let index = index(of: id) else { return [] }
        attributes[index].subscribers.append(central.peer)
        if attributes[index].nextNotification == nil,
            let notifications = attributes[index].characteristic.notifications,
            !notifications.values.isEmpty
        {
            attributes[index].nextNotification = now + max(notifications.interval, .milliseconds(1))
        }
        let value = attributes[index].value
        guard let answer = behaviour.answer(.subscription, of: attributes[index].uuid, value, at: now) else {
            return []
        }
        return carryOut(answer, nil, .success([]), at: now)
    }

    private mutating func read(
        _ id: LocalAttributeID,
        from offset: Int,
        _ transaction: ServerTransaction,
        at now: Instant
    ) -> [ClientRequest] {
        guard let index = index(of: id) else { return [.service(.respond(transaction, .failure(.attributeNotFound)))] }
        var value = attributes[index].value
        let answer = behaviour.answer(.read, of: attributes[index].uuid, value, at: now)
        if case .value(let octets) = answer?.outcome { value = Array(octets.prefix(ATT.maximumValueLength)) }
        let response: ServerResponse =
            0...value.count ~= offset ? .success(Array(value[offset...])) : .failure(.invalidOffset)
        return carryOut(answer ?? .accepted, transaction, response, at: now)
    }

    /// Accepts or refuses all parts of a write.
    ///
    /// Subscribers receive the new values, unless the test or the description defines an answer to the write. In that
    /// case, the device sends only this answer and the values that belong to it.
    private mutating func write(
        _ parts: WriteGroup,
        _ transaction: ServerTransaction?,
        at now: Instant
    ) -> [ClientRequest] {
        func refuse(_ code: ATT.ErrorCode) -> [ClientRequest] {
            transaction.map { [.service(.respond($0, .failure(code)))] } ?? []
        }
        var values = attributes.map(\.value)
        var changed: [Int] = []
        for part in parts {
            guard let index = index(of: part.attribute) else { return refuse(.attributeNotFound) }
            if !changed.contains(index) { changed.append(index) }
            guard 0...values[index].count ~= part.offset else { return refuse(.invalidOffset) }
            guard part.offset + part.value.count <= ATT.maximumValueLength else {
                return refuse(.invalidAttributeValueLength)
            }
            values[index] = values[index][..<part.offset] + part.value
        }
        var answers: [DeviceAnswer] = []
        for index in changed {
            let answer = behaviour.answer(.write, of: attributes[index].uuid, values[index], at: now)
            guard let answer = answer ?? describedAnswer(index, values[index]) else { continue }
            answers.append(answer)
        }
        let refusal = answers.first { if case .value = $0.outcome { false } else { true } }
        if let refusal { return carryOut(refusal, transaction, .success([]), at: now) }
        for index in changed { attributes[index].value = values[index] }
        let updates: [ClientRequest] = changed.filter { !attributes[$0].subscribers.isEmpty }.map { index in
            .service(.update(attributes[index].id, values[index], to: nil))
        }
        guard let answer = answers.first else {
            return carryOut(.accepted, transaction, .success([]), at: now) + updates
        }
        return carryOut(answer, transaction, .success([]), at: now)
    }

    /// Returns the answer that the description defines for a written value; `nil` if it defines none.
    private func describedAnswer(_ index: Int, _ written: [UInt8]) -> DeviceAnswer? {
        let answers = attributes[index].characteristic.answers(to: written)
        guard !answers.isEmpty else { return nil }
        return answers.reduce(.accepted) { $0.notifying($1.value, of: $1.characteristic, after: $1.delay) }
    }

    /// Carries out an answer and the values that follow it: returns the requests that are due now, and keeps the other
    /// requests for later.
    private mutating func carryOut(
        _ answer: DeviceAnswer,
        _ transaction: ServerTransaction?,
        _ response: ServerResponse,
        at now: Instant
    ) -> [ClientRequest] {
        var requests: [(due: Instant, request: ClientRequest)] = []
        let due = now + max(answer.delay, .zero)
        if let transaction {
            switch answer.outcome {
            case .value: requests.append((due, .service(.respond(transaction, response))))
            case .error(let code):
                requests.append((due, .service(.respond(transaction, .failure(ATT.ErrorCode(wire: code))))))
            case .silence: break
            }
        }
        for update in answer.updates {
            guard let type = BluetoothUUID(update.characteristic),
                let index = attributes.firstIndex(where: { $0.uuid == type })
            else { continue }
            let request = ServiceRequest.update(attributes[index].id, update.value, to: nil)
            requests.append((due + max(update.delay, .zero), .service(request)))
        }
        for request in requests where request.due > now {
            let place = delayedRequests.firstIndex { $0.due > request.due } ?? delayedRequests.endIndex
            delayedRequests.insert(request, at: place)
        }
        return requests.filter { $0.due <= now }.map(\.request)
    }

    private mutating func stopNotifying(_ index: Int) {
        attributes[index].nextNotification = nil
        attributes[index].subscribers = []
    }

    private func index(of id: LocalAttributeID) -> Int? {
        attributes.indices.contains(Int(id.rawValue)) ? Int(id.rawValue) : nil
    }
}
