import BLEWire

/// The preserved state of a session in the peripheral role: its services, advertisement and subscribers.
package struct PreservedPeripheral: Equatable, Sendable {
    /// A central that is subscribed to a characteristic.
    package struct Subscriber: Equatable, Sendable {
        package var central: RemoteCentral
        package let characteristic: LocalAttributeID

        package init(central: RemoteCentral, characteristic: LocalAttributeID) {
            self.central = central
            self.characteristic = characteristic
        }
    }

    /// The services, in the order in which they were added.
    package private(set) var services: [ServiceDefinition] = []
    package private(set) var advertisement: AdvertisingRequest?
    /// The subscribers, in the order in which they subscribed.
    package internal(set) var subscribers: [Subscriber] = []
    /// The advertising requests that have no result yet, preceded by the advertisement that continues if they fail;
    /// empty if there are no such requests.
    ///
    /// An element is `nil` if its advertisement or request was cancelled. The first one is also `nil` if nothing was
    /// being advertised before the requests.
    ///
    /// A single array keeps this type small. The type is part of ``ClientEvent``, which is copied thousands of times
    /// per second.
    private var unanswered: [AdvertisingRequest?] = []

    package init(
        services: [ServiceDefinition] = [],
        advertisement: AdvertisingRequest? = nil,
        subscribers: [Subscriber] = []
    ) {
        self.services = services
        self.advertisement = advertisement
        self.subscribers = subscribers
    }

    mutating func note(_ request: ClientRequest) {
        switch request {
        case .service(.addService(let definition)): services.append(definition)
        case .service(.removeService(let id)): remove { $0.id == id }
        case .service(.removeAllServices): remove { _ in true }
        case .server(.startAdvertising(let request)):
            if unanswered.isEmpty { unanswered = [advertisement] }
            unanswered.append(request)
            advertisement = request
        case .server(.stopAdvertising):
            unanswered = unanswered.map { _ in nil }
            advertisement = nil
        case .service, .server, .scan, .stopScan, .connect, .cancelConnection, .peer, .channel, .appPhaseChanged,
            .security,
            .showAlerts, .tester:
            break
        }
    }

    mutating func note(_ event: ClientEvent) {
        switch event {
        case .stateChanged(let state): if state != .poweredOn { subscribers = [] }
        case .server(let event): note(event)
        case .featuresChanged, .knownPeers, .systemLinks, .scanBegan, .discovered, .connected, .connectFailed,
            .disconnected,
            .peer, .channel, .security, .alert, .tester, .restored:
            break
        }
    }

    private mutating func note(_ event: ServerEvent) {
        switch event {
        case .serviceAdded(let id, let failure): if failure != nil { remove { $0.id == id } }
        case .advertisingStarted(let failure): advertisingAnswered(failure)
        case .subscribed(let central, let id):
            subscribers.append(Subscriber(central: central, characteristic: id))
        case .unsubscribed(let central, let id):
            subscribers.removeAll { $0.central.peer == central.peer && $0.characteristic == id }
        case .centralChanged(let central):
            for index in subscribers.indices where subscribers[index].central.peer == central.peer {
                subscribers[index].central = central
            }
        case .readRequested, .writeRequested, .updatesTaken, .confirmed, .centralsConnected, .channelPublished,
            .channelUnpublished, .channelOpened:
            break
        }
    }

    /// Records the result of the oldest advertising request that has no result yet.
    ///
    /// If the request failed, the previous advertisement continues.
    private mutating func advertisingAnswered(_ failure: Failure?) {
        guard !unanswered.isEmpty else {
            if failure != nil { advertisement = nil }
            return
        }
        unanswered.remove(at: failure == nil ? 0 : 1)
        guard unanswered.count == 1 else { return }
        advertisement = unanswered.removeFirst()
    }

    /// The requests that establish this state on a host that does not have the session.
    var requests: [ClientRequest] {
        services.map { .service(.addService($0)) } + (advertisement.map { [.server(.startAdvertising($0))] } ?? [])
    }

    private mutating func remove(where isGone: (ServiceDefinition) -> Bool) {
        let gone = services.filter(isGone).flatMap(\.characteristics).map(\.id)
        services.removeAll(where: isGone)
        subscribers.removeAll { gone.contains($0.characteristic) }
    }
}
