import BLEWire

/// What a client in the peripheral role publishes and advertises, and who listens.
package struct PreservedPeripheral: Equatable, Sendable {
    /// A central that hears of a value.
    package struct Subscriber: Equatable, Sendable {
        package var central: RemoteCentral
        package let characteristic: LocalAttributeID

        package init(central: RemoteCentral, characteristic: LocalAttributeID) {
            self.central = central
            self.characteristic = characteristic
        }
    }

    /// In the order in which they were added.
    package private(set) var services: [ServiceDefinition] = []
    package private(set) var advertisement: AdvertisingRequest?
    /// In the order in which they subscribed.
    package internal(set) var subscribers: [Subscriber] = []
    /// How many times the host was asked to advertise and has not said whether it does.
    private var unansweredStarts = 0

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
            advertisement = request
            unansweredStarts += 1
        case .server(.stopAdvertising): advertisement = nil
        case .service, .server, .scan, .stopScan, .connect, .cancelConnection, .peer, .channel, .appMoved, .security,
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
        case .advertisingStarted(let failure):
            unansweredStarts = max(0, unansweredStarts - 1)
            if failure != nil, unansweredStarts == 0 { advertisement = nil }
        case .subscribed(let central, let id):
            subscribers.append(Subscriber(central: central, characteristic: id))
        case .unsubscribed(let central, let id):
            subscribers.removeAll { $0.central.peer == central.peer && $0.characteristic == id }
        case .centralChanged(let central):
            for index in subscribers.indices where subscribers[index].central.peer == central.peer {
                subscribers[index].central = central
            }
        case .readRequested, .writeRequested, .updatesTaken, .centralsConnected, .channelPublished,
            .channelUnpublished, .channelOpened:
            break
        }
    }

    /// What to ask of a host that knows nothing of the client.
    var requests: [ClientRequest] {
        services.map { .service(.addService($0)) } + (advertisement.map { [.server(.startAdvertising($0))] } ?? [])
    }

    private mutating func remove(where isGone: (ServiceDefinition) -> Bool) {
        let gone = services.filter(isGone).flatMap(\.characteristics).map(\.id)
        services.removeAll(where: isGone)
        subscribers.removeAll { gone.contains($0.characteristic) }
    }
}
