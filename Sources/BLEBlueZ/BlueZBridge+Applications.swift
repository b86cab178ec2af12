import BLEHost
import BLEWire
import DBus

/// The services that a program exports.
struct Application: Sendable {
    /// An exported characteristic or descriptor.
    struct Value: Sendable {
        let object: ApplicationObjects.Value
        let session: BlueZBridge.SessionKey
        /// The subscribed remote devices.
        var subscribers: [PeerIdentifier] = []
        /// The subscribers without a socket; `StartNotify` is called once for all of them.
        var started: [PeerIdentifier] = []

        var path: String { object.path }
        var interface: String { object.interface }
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
        let key = SessionKey(application.client, .application(number))
        changeExports(of: application.client) { $0.applications[number] = nil }
        closeExportedPipes { $0.key == key }
        close(key)
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
                application.values[value.id] = Application.Value(object: value, session: key)
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
                _ = application.values.update(id) { ($0.subscribers, $0.started) = ([], []) }
            }
        }
        let key = SessionKey(application.client, .application(number))
        closeExportedPipes { $0.key == key }
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
        case .subscribed(let central, let id): subscribed(central, id, key)
        case .unsubscribed(let central, let id): unsubscribed(central.peer, id, key)
        case .readRequested(let transaction, let central, let id, let offset):
            readRequested(transaction, central, id, offset, key)
        case .writeRequested(let transaction, let central, let group):
            writeRequested(transaction, central, group, key)
        case .centralsConnected(let centrals):
            // A question about a central without an object is cancelled when its time is over.
            for central in centrals where addDevice(central.central.peer, central.address, name: nil) {
                askHeldInquiries(about: central.central.peer)
            }
            endExportedPipes(of: key, except: centrals.map(\.central.peer))
        case .confirmed(let central, let id): confirmed(central.peer, id, key)
        case .updatesTaken(let count): updatesTaken(count, key)
        case .centralChanged, .channelPublished, .channelUnpublished, .channelOpened: break
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
    func value(_ id: LocalAttributeID, _ key: SessionKey) -> Application.Value? {
        guard case .application(let number) = key.purpose else { return nil }
        return applications[number]?.values[id]
    }

    /// Returns the options of a call about a remote device.
    func options(for central: RemoteCentral) -> [(String, BusValue)] {
        let options: [(String, BusValue)] = [("link", .string("LE")), ("mtu", .uint16(UInt16(clamping: central.mtu)))]
        guard let path = devices[central.peer]?.path else { return options }
        return options + [("device", .path(path))]
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
        let options = options(for: central) + [("offset", .uint16(UInt16(clamping: offset)))]
        let body = [BusValue.properties(options)]
        call(key.client, value.path, value.interface, "ReadValue", body, for: .read(key, transaction))
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

    /// Sends the new value of a program's characteristic to the subscribed remote devices.
    mutating func noteChangedValue(_ signal: BusMessage) {
        guard signal.body.count == 3, let value = signal.body[1][key: "Value"]?.bytes else { return }
        for application in applications.all where application.client == signal.sender {
            for id in application.values.keys {
                guard let characteristic = application.values[id], characteristic.path == signal.path,
                    characteristic.interface == BlueZ.characteristic
                else { continue }
                send(value, of: id, to: nil, characteristic.session)
            }
        }
    }
}
