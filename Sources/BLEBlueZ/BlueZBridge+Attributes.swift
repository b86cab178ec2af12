import BLEHost
import BLEWire
import DBus

/// An operation that a program requests on an attribute of a device.
enum Operation: Sendable {
    case read(path: String, AttributeHandle, offset: Int)
    case write(AttributeRequest)
    case command(AttributeHandle, [UInt8])
    case subscribe(AttributeHandle)
    case acquireNotify(AttributeHandle)
    case acquireWrite(AttributeHandle)
}

extension BlueZBridge {
    mutating func answerAttribute(
        _ member: String,
        _ path: String,
        _ body: [BusValue],
        _ caller: Caller
    ) throws(BlueZError) -> [BusValue]? {
        guard let device = owner(ofAttribute: path), let handle = device.database.handles[path] else {
            throw .doesNotExist
        }
        let characteristic = device.database.characteristics[handle].flatMap { $0.path == path ? $0 : nil }
        let key = SessionKey(caller.sender, .central), operation: Operation
        switch member {
        case "ReadValue": operation = .read(path: path, handle, offset: try Self.offset(in: body.first))
        case "WriteValue": operation = try writing(path, handle, body, characteristic)
        case "StartNotify":
            guard try needsSubscription(of: key, to: characteristic) else { return [] }
            operation = .subscribe(handle)
        case "StopNotify":
            guard let characteristic, characteristic.subscribers.contains(caller.sender) else { throw .notNotifying }
            endSubscription(characteristic, of: caller.sender, at: device.peer)
            request(
                key,
                device.peer,
                .subscribe(.none, to: handle, in: characteristic.descriptors),
                for: .unsubscribe(caller, path: path)
            )
            return nil
        case "AcquireNotify":
            guard let characteristic, characteristic.properties.contains(.notify) else { throw .notSupported }
            guard characteristic.notifyPipe == nil, characteristic.subscribers.isEmpty else {
                throw .notifyAcquired
            }
            operation = .acquireNotify(handle)
        case "AcquireWrite":
            guard let characteristic, characteristic.properties.contains(.writeWithoutResponse) else {
                throw .notSupported
            }
            guard characteristic.writePipe == nil else { throw .writeAcquired }
            operation = .acquireWrite(handle)
        default: return []
        }
        guard !device.links.isEmpty else { throw .notConnected }
        // The device may be connected only for another program. The caller then needs its own connection, which shares
        // the link.
        try connect(device.peer, for: .operation(caller, operation))
        return nil
    }

    /// Returns whether a program that calls `StartNotify` needs a subscription; false if it already has one.
    private func needsSubscription(
        of key: SessionKey,
        to characteristic: RemoteDatabase.Characteristic?
    ) throws(BlueZError) -> Bool {
        guard let characteristic, characteristic.canNotify else { throw .notSupported }
        guard !characteristic.subscribers.contains(key.client) else {
            let isPending = sessions[key]?.requests.all.contains { request in
                if case .subscribe(_, characteristic.path) = request.purpose { true } else { false }
            }
            guard isPending != true else { throw .inProgress }
            return false
        }
        guard characteristic.notifyPipe == nil else { throw .notifyAcquired }
        return true
    }

    private static func offset(in options: BusValue?) throws(BlueZError) -> Int {
        guard let value = options?[key: "offset"] else { return 0 }
        guard let offset = value.integer, 0...512 ~= offset else { throw .invalidOffset }
        return offset
    }

    private func writing(
        _ path: String,
        _ handle: AttributeHandle,
        _ body: [BusValue],
        _ characteristic: RemoteDatabase.Characteristic?
    ) throws(BlueZError) -> Operation {
        guard let value = body.first?.bytes, body.count == 2 else { throw .invalidArguments }
        guard value.count <= 512 else { throw .init("InvalidArguments", "Invalid Length") }
        let offset = try Self.offset(in: body[1])
        let request: AttributeRequest =
            offset == 0 ? .write(handle, value) : .writePart(handle, value, offset: UInt16(offset))
        guard let characteristic else {
            // StartNotify and StopNotify write this descriptor.
            guard tree.value(path, BlueZ.descriptor, "UUID") != .string(BluetoothUUID.short(0x2902).inFull) else {
                throw .init("NotPermitted", "Write not permitted")
            }
            // There are no write commands for descriptors, whatever the program asks for.
            return .write(request)
        }
        let properties = characteristic.properties
        guard !properties.isDisjoint(with: [.write, .writeWithoutResponse, .authenticatedSignedWrites]) else {
            throw .notSupported
        }
        let plain = properties.contains(.writeWithoutResponse) && !properties.contains(.write) ? "command" : "request"
        switch body[1][key: "type"]?.text ?? plain {
        case "request", "reliable": return .write(request)
        // A command has no offset.
        case "command" where offset == 0: return .command(handle, value)
        default: throw .notSupported
        }
    }

    /// Returns the device to which the object of an attribute belongs; `nil` if there is no such device.
    private func owner(ofAttribute path: String) -> Device? {
        let prefix = path.split(separator: "/").prefix(4).joined(separator: "/")
        return device(at: "/" + prefix)
    }

    /// Carries out an operation over the connection of the caller's session.
    mutating func start(_ operation: Operation, _ caller: Caller, _ peer: PeerIdentifier) {
        let key = SessionKey(caller.sender, .central)
        switch operation {
        case .read(let path, let handle, let offset):
            request(key, peer, .read(handle), for: .read(caller, path: path, offset: offset))
        case .write(let request): self.request(key, peer, request, for: .write(caller))
        case .command(let handle, let value):
            guard sendCommand(handle, value, key, peer) else { return refuse(caller, .inProgress) }
            reply(to: caller)
        case .subscribe(let handle):
            // A device may notify before it has answered the subscription, and the program gets that value.
            addSubscriber(caller.sender, handle, at: peer)
            subscribe(caller, handle, peer) { .subscribe(caller, path: $0) }
        case .acquireNotify(let handle): subscribe(caller, handle, peer) { .acquire(caller, path: $0) }
        case .acquireWrite(let handle):
            guard let path = devices[peer]?.database.characteristics[handle]?.path else {
                return refuse(caller, .doesNotExist)
            }
            openPipe(caller, peer, handle, path, isNotify: false)
        }
    }

    /// Sends a write command unless too many of the session's write commands are still in the host; returns whether it
    /// was sent.
    mutating func sendCommand(
        _ handle: AttributeHandle,
        _ value: [UInt8],
        _ key: SessionKey,
        _ peer: PeerIdentifier
    ) -> Bool {
        open(key)
        let isAdmitted = sessions.update(key) { session in
            guard session.commands < Limit.commands else { return false }
            session.commands += 1
            return true
        }
        guard isAdmitted == true else { return false }
        act(.request(key, .peer(peer, .writeCommand(handle, value))))
        return true
    }

    private mutating func commandsTaken(_ count: Int, _ key: SessionKey) {
        _ = sessions.update(key) { $0.commands = max(0, $0.commands - count) }
        for number in pipes.keys where pipes[number]?.client == key.client && pipes[number]?.isPaused == true {
            guard sendValues(of: number), sessions[key]?.commands ?? 0 < Limit.commands else { return }
            _ = pipes.update(number) { $0.isPaused = false }
            act(.resumePipe(number))
        }
    }

    private mutating func subscribe(
        _ caller: Caller,
        _ handle: AttributeHandle,
        _ peer: PeerIdentifier,
        _ purpose: (String) -> PeerPurpose
    ) {
        guard let characteristic = devices[peer]?.database.characteristics[handle] else {
            return refuse(caller, .doesNotExist)
        }
        let kind = characteristic.properties.contains(.notify) ? Subscription.notifications : .indications
        let request = AttributeRequest.subscribe(kind, to: handle, in: characteristic.descriptors)
        self.request(SessionKey(caller.sender, .central), peer, request, for: purpose(characteristic.path))
    }

    /// Processes an event about a device; `number` identifies the request that the event answers, and is `.none` if it
    /// answers none.
    mutating func receive(_ event: PeerEvent, of peer: PeerIdentifier, _ number: RequestNumber, _ key: SessionKey) {
        if number != .none {
            guard let purpose = sessions[key]?.requests[number]?.purpose else { return }
            _ = sessions.update(key) { $0.requests[number] = nil }
            return receive(event, for: purpose, at: peer, key)
        }
        switch event {
        case .mtuChanged(let mtu): changeMTU(mtu, of: peer)
        case .nameChanged(let name): if let path = devices[peer]?.path { rename(path, name) }
        case .valueNotified(let handle, let value): notified(peer, handle, value, key)
        case .servicesModified: rediscover(peer, by: key)
        case .writeCommandsTaken(let count): commandsTaken(count, key)
        default: break
        }
    }

    private mutating func receive(
        _ event: PeerEvent,
        for purpose: PeerPurpose,
        at peer: PeerIdentifier,
        _ key: SessionKey
    ) {
        switch (purpose, event) {
        case (.services, _), (.includes, _), (.members, _), (.descriptors, _): discovered(event, purpose, at: peer, key)
        case (.read(let caller, let path, let offset), .valueRead(_, let result)): read(result, path, offset, caller)
        case (.write(let caller), .valueWritten(_, let failure)):
            if let failure { refuse(caller, BlueZError(failure)) } else { reply(to: caller) }
        case (.subscribe(let caller, let path), .subscriptionChanged(let handle, _, let failure)):
            if let failure {
                dropSubscriber(caller.sender, handle, at: peer)
                return refuse(caller, BlueZError(failure))
            }
            tree.set(path, BlueZ.characteristic, "Notifying", .boolean(true))
            reply(to: caller)
        case (.acquire(let caller, let path), .subscriptionChanged(let handle, _, let failure)):
            if let failure { return refuse(caller, BlueZError(failure)) }
            openPipe(caller, peer, handle, path, isNotify: true)
        case (.unsubscribe(let caller, _), .subscriptionChanged): reply(to: caller)
        case (.modalias, .valueRead(_, .success(let value))): setModalias(value, of: peer)
        default: break
        }
    }

    private mutating func read(_ result: Result<[UInt8], Failure>, _ path: String?, _ offset: Int, _ caller: Caller) {
        switch result {
        case .success(let value):
            guard offset <= value.count else { return refuse(caller, .invalidOffset) }
            let rest = Array(value.dropFirst(offset))
            if let path {
                let isCharacteristic = tree.properties(path, BlueZ.characteristic) != nil
                let interface = isCharacteristic ? BlueZ.characteristic : BlueZ.descriptor
                signalValue(rest, of: path, interface, to: caller.sender)
            }
            reply(to: caller, [.octets(rest)])
        case .failure(let failure): refuse(caller, BlueZError(failure))
        }
    }

    /// Refuses the calls that wait for a session's requests to a device, because the connection has ended.
    mutating func failRequests(to peer: PeerIdentifier, of key: SessionKey) {
        guard let session = sessions[key] else { return }
        for number in session.requests.keys {
            guard let request = session.requests[number], request.peer == peer else { continue }
            _ = sessions.update(key) { $0.requests[number] = nil }
            if let caller = request.purpose.caller { refuse(caller, .notConnected) }
        }
    }
}

extension RemoteDatabase.Characteristic {
    fileprivate var canNotify: Bool { properties.contains(.notify) || properties.contains(.indicate) }
}
