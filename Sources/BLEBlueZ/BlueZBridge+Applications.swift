import BLEHost
import BLEWire
import DBus

/// The services that a program exports.
struct Application: Sendable {
    /// An exported characteristic or descriptor.
    struct Value: Sendable {
        let path: String
        let interface: String
        let session: BlueZBridge.SessionKey
        /// True if the program is asked before an untrusted device writes prepared values.
        let needsAuthorization: Bool
        /// The subscribed remote devices.
        var subscribers: [PeerIdentifier] = []
    }

    let client: String
    let path: String
    /// The call to `RegisterApplication`; `nil` once it has been answered.
    var caller: Caller?
    /// The services whose publication the host has not confirmed yet.
    var unconfirmed: [LocalAttributeID] = []
    var values = OrderedMap<LocalAttributeID, Value>()
    var services: [ServiceDefinition] = []
}

/// A call to `WriteValue` of a program: a write by a remote device, or the question whether to accept it.
struct ApplicationWrite: Sendable {
    let part: WritePart
    /// True if the program only accepts or refuses the write.
    var isQuestion = false
}

extension BlueZBridge {
    mutating func answerApplications(
        _ member: String,
        _ body: [BusValue],
        _ caller: Caller
    ) throws(BlueZError) -> [BusValue]? {
        guard let path = body.first?.text else { throw .invalidArguments }
        let own = applications.keys.filter { applications[$0]?.client == caller.sender }
        let existing = own.first { applications[$0]?.path == path }
        guard member == "RegisterApplication" else {
            guard let existing else { throw .doesNotExist }
            let pending = applications[existing]?.caller
            removeApplication(existing)
            if let pending { refuse(pending, .doesNotExist) }
            return []
        }
        guard existing == nil else { throw .alreadyExists }
        guard own.count < Limit.applications else { throw .limitReached }
        let number = nextNumber()
        changeExports(of: caller.sender) { bridge in
            bridge.applications[number] = Application(client: caller.sender, path: path, caller: caller)
        }
        call(
            caller.sender,
            path,
            ObjectTree.objectManager,
            "GetManagedObjects",
            for: .objects(ofApplication: number)
        )
        return nil
    }

    mutating func removeApplication(_ number: UInt32) {
        guard let application = applications[number] else { return }
        changeExports(of: application.client) { $0.applications[number] = nil }
        close(SessionKey(application.client, .application(number)))
    }

    /// Calls `change`, which changes the applications or advertisements of a program.
    ///
    /// While the program has applications or advertisements, the bridge receives the program's signals about changed
    /// properties.
    mutating func changeExports(of client: String, _ change: (inout Self) -> Void) {
        let had = hasExports(client)
        change(&self)
        let has = hasExports(client)
        if had != has { changeMatch(has ? "AddMatch" : "RemoveMatch", client, ObjectTree.properties) }
    }

    private func hasExports(_ client: String) -> Bool {
        applications.all.contains { $0.client == client } || advertisements.all.contains { $0.client == client }
    }

    /// Adds or removes the bus's match rule for the signals that a program sends from an interface.
    ///
    /// `member` is `AddMatch` or `RemoveMatch`.
    mutating func changeMatch(_ member: String, _ client: String, _ interface: String) {
        let rule = "type='signal',sender='\(client)',interface='\(interface)'"
        call(Self.bus, "/org/freedesktop/DBus", Self.bus, member, [.string(rule)])
    }

    /// Publishes the services that a program has returned in its reply to `GetManagedObjects`.
    mutating func addObjects(toApplication number: UInt32, _ reply: BusReply) {
        guard let application = applications[number], let caller = application.caller else { return }
        guard case .values(let values, _) = reply, let entries = values.first?.entries,
            entries.count <= Limit.applicationObjects
        else { return refuseApplication(number, caller, BlueZError("Failed", "Failed to get the objects")) }
        let objects = ApplicationObjects(entries)
        guard let services = objects.services(numberedBy: { nextNumber() }) else {
            return refuseApplication(number, caller, BlueZError("Failed", "No valid service object found"))
        }
        guard !services.isEmpty else {
            return refuseApplication(number, caller, BlueZError("Failed", "No object received"))
        }
        let key = SessionKey(application.client, .application(number))
        _ = applications.update(number) { application in
            application.services = services.map(\.definition)
            for value in services.flatMap(\.values) {
                application.values[value.id] = Application.Value(
                    path: value.path,
                    interface: value.interface,
                    session: key,
                    needsAuthorization: value.needsAuthorization
                )
            }
        }
        publish(number)
    }

    /// Adds an application's services to the host's database.
    mutating func publish(_ number: UInt32) {
        guard let application = applications[number] else { return }
        _ = applications.update(number) { application in
            application.unconfirmed = application.services.map(\.id)
            for id in application.values.keys {
                _ = application.values.update(id) { $0.subscribers = [] }
            }
        }
        let key = SessionKey(application.client, .application(number))
        for service in application.services {
            request(key, .service(.addService(service)))
            for characteristic in service.characteristics where characteristic.properties.complete.contains(.indicate) {
                request(key, .service(.reportConfirmations(of: characteristic.id)))
            }
        }
    }

    private mutating func refuseApplication(_ number: UInt32, _ caller: Caller, _ error: BlueZError) {
        removeApplication(number)
        refuse(caller, error)
    }

    /// Processes an event that the host sends to a session in the peripheral role.
    mutating func receive(_ event: ServerEvent, of key: SessionKey) {
        switch event {
        case .serviceAdded(let id, let failure): serviceAdded(id, failure, key)
        case .advertisingStarted(let failure): advertisingStarted(failure, key)
        case .subscribed(let central, let id): subscribed(central.peer, id, key)
        case .unsubscribed(let central, let id): unsubscribed(central.peer, id, key)
        case .readRequested(let transaction, let central, let id, let offset):
            readRequested(transaction, central, id, offset, key)
        case .writeRequested(let transaction, let central, let group):
            let writes = Self.joined(group).map { ApplicationWrite(part: $0) }
            write(questions(about: group, central.peer, key) + writes, transaction, central.peer, key)
        case .centralsConnected(let centrals):
            // A question about a central without an object is cancelled when its time is over.
            for central in centrals where addDevice(central.central.peer, central.address, name: nil) {
                askHeldInquiries(about: central.central.peer)
            }
        case .confirmed(_, let id):
            if let value = value(id, key) { call(key.client, value.path, value.interface, "Confirm") }
        case .updatesTaken, .centralChanged, .channelPublished, .channelUnpublished, .channelOpened: break
        }
    }

    private mutating func serviceAdded(_ id: LocalAttributeID, _ failure: Failure?, _ key: SessionKey) {
        guard case .application(let number) = key.purpose, let caller = applications[number]?.caller else { return }
        if let failure { return refuseApplication(number, caller, BlueZError(failure)) }
        let isComplete = applications.update(number) { application in
            application.unconfirmed.removeAll { $0 == id }
            if application.unconfirmed.isEmpty { application.caller = nil }
            return application.unconfirmed.isEmpty
        }
        if isComplete == true { reply(to: caller) }
    }

    /// Returns the value with this identifier that a program exports in a session; `nil` if there is none.
    private func value(_ id: LocalAttributeID, _ key: SessionKey) -> Application.Value? {
        guard case .application(let number) = key.purpose else { return nil }
        return applications[number]?.values[id]
    }

    private mutating func changeSubscribers(
        _ id: LocalAttributeID,
        _ key: SessionKey,
        _ change: (inout [PeerIdentifier]) -> Void
    ) {
        guard case .application(let number) = key.purpose else { return }
        _ = applications.update(number) { $0.values.update(id) { change(&$0.subscribers) } }
    }

    private mutating func subscribed(_ peer: PeerIdentifier, _ id: LocalAttributeID, _ key: SessionKey) {
        guard let characteristic = value(id, key), !characteristic.subscribers.contains(peer) else { return }
        changeSubscribers(id, key) { $0.append(peer) }
        guard characteristic.subscribers.isEmpty else { return }
        call(key.client, characteristic.path, BlueZ.characteristic, "StartNotify")
    }

    private mutating func unsubscribed(_ peer: PeerIdentifier, _ id: LocalAttributeID, _ key: SessionKey) {
        guard let characteristic = value(id, key), characteristic.subscribers.contains(peer) else { return }
        changeSubscribers(id, key) { $0.removeAll { $0 == peer } }
        guard characteristic.subscribers == [peer] else { return }
        call(key.client, characteristic.path, BlueZ.characteristic, "StopNotify")
    }

    /// Returns the options of a call to `ReadValue` or `WriteValue`, for a read or a write by a remote device.
    ///
    /// `type` is the kind of write, and `isQuestion` is true if the program is only asked to accept it.
    private func options(
        _ peer: PeerIdentifier,
        offset: Int,
        mtu: Int?,
        type: String? = nil,
        isQuestion: Bool = false
    ) -> BusValue {
        var options: [(String, BusValue)] = [("offset", .uint16(UInt16(clamping: offset))), ("link", .string("LE"))]
        if let path = devices[peer]?.path { options.append(("device", .path(path))) }
        if let mtu { options.append(("mtu", .uint16(UInt16(clamping: mtu)))) }
        if let type { options.append(("type", .string(type))) }
        if isQuestion { options.append(("prepare-authorize", .boolean(true))) }
        return .properties(options)
    }

    private mutating func readRequested(
        _ transaction: ServerTransaction,
        _ central: RemoteCentral,
        _ id: LocalAttributeID,
        _ offset: Int,
        _ key: SessionKey
    ) {
        guard let value = value(id, key) else {
            return request(key, .service(.respond(transaction, .failure(.unlikelyError))))
        }
        let options = options(central.peer, offset: offset, mtu: central.mtu)
        call(key.client, value.path, value.interface, "ReadValue", [options], for: .read(key, transaction))
    }

    /// Answers a remote device's read with the program's reply.
    mutating func respond(_ key: SessionKey, _ transaction: ServerTransaction, _ reply: BusReply) {
        let response: ServerResponse
        switch reply {
        case .values(let values, _):
            response = values.first?.bytes.map(ServerResponse.success) ?? .failure(.unlikelyError)
        case .refused(let refusal): response = .failure(BlueZError.attribute(refusal.name, refusal.text))
        }
        if sessions[key] != nil { request(key, .service(.respond(transaction, response))) }
    }

    /// Joins the parts of long values, because many programs ignore the offset of a write.
    private static func joined(_ group: WriteGroup) -> [WritePart] {
        var result: [WritePart] = []
        for part in group {
            if let last = result.last, last.attribute == part.attribute, last.offset + last.value.count == part.offset {
                result[result.count - 1].value += part.value
            } else {
                result.append(part)
            }
        }
        return result
    }

    /// Returns the questions to ask before prepared writes by a device that neither the program's user nor an
    /// administrator trusts: one for each value with the flag `authorize`.
    ///
    /// BlueZ asks when the device prepares the write, and asks nothing about other writes. A group of one part from the
    /// beginning of the value is not distinguished from a Write Request.
    private func questions(
        about group: WriteGroup,
        _ peer: PeerIdentifier,
        _ key: SessionKey
    ) -> [ApplicationWrite] {
        guard group.count > 1 || group.first?.offset != 0 else { return [] }
        if let device = devices[peer], isTrusted(device, by: key.client) { return [] }
        var questions: [ApplicationWrite] = []
        for part in group where !questions.contains(where: { $0.part.attribute == part.attribute }) {
            guard value(part.attribute, key)?.needsAuthorization == true else { continue }
            questions.append(ApplicationWrite(part: part, isQuestion: true))
        }
        return questions
    }

    /// Passes the first of several writes to the program; the next one follows when the program has answered.
    ///
    /// If no writes are left, reports the success of the whole group. `transaction` is `nil` for a write command, which
    /// is not answered.
    private mutating func write(
        _ writes: [ApplicationWrite],
        _ transaction: ServerTransaction?,
        _ peer: PeerIdentifier,
        _ key: SessionKey
    ) {
        guard let next = writes.first, let value = value(next.part.attribute, key) else {
            let response: ServerResponse = writes.isEmpty ? .success([]) : .failure(.unlikelyError)
            if let transaction { request(key, .service(.respond(transaction, response))) }
            return
        }
        let type = transaction == nil ? "command" : "request"
        let options = options(peer, offset: next.part.offset, mtu: nil, type: type, isQuestion: next.isQuestion)
        let purpose = PendingCall.Purpose.write(key, transaction, peer, rest: Array(writes.dropFirst()))
        call(key.client, value.path, value.interface, "WriteValue", [.octets(next.part.value), options], for: purpose)
    }

    /// Continues a group of writes after the program's reply; if the reply is an error, answers the group with an ATT
    /// error.
    mutating func respond(
        _ key: SessionKey,
        _ transaction: ServerTransaction?,
        _ peer: PeerIdentifier,
        _ rest: [ApplicationWrite],
        _ reply: BusReply
    ) {
        guard sessions[key] != nil else { return }
        guard case .refused(let refusal) = reply else { return write(rest, transaction, peer, key) }
        let code = BlueZError.attribute(refusal.name, refusal.text)
        let error = code == .readNotPermitted ? ATT.ErrorCode.writeNotPermitted : code
        if let transaction { request(key, .service(.respond(transaction, .failure(error)))) }
    }

    /// Sends the new value of a program's characteristic to the subscribed remote devices.
    mutating func noteChangedValue(_ signal: BusMessage) {
        guard signal.body.count == 3, let value = signal.body[1][key: "Value"]?.bytes else { return }
        for application in applications.all where application.client == signal.sender {
            for id in application.values.keys {
                guard let characteristic = application.values[id], characteristic.path == signal.path,
                    characteristic.interface == BlueZ.characteristic
                else { continue }
                request(characteristic.session, .service(.update(id, value, to: nil)))
            }
        }
    }
}
