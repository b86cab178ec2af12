package import BLEHost

extension ClientRequest {
    /// The name of the request's method in Core Bluetooth, or a similar name if there is none.
    package var methodName: String {
        switch self {
        case .scan: "scanForPeripherals"
        case .stopScan: "stopScan"
        case .connect: "connect"
        case .cancelConnection: "cancelPeripheralConnection"
        case .peer(_, let request, _): request.methodName
        case .server(let request): request.methodName
        case .service(let request): request.methodName
        case .channel: "channel"
        case .security: "pairing"
        case .tester: "test"
        case .appPhaseChanged: "appMoved"
        case .showAlerts: "alerts"
        }
    }
}

extension PeerRequest {
    var methodName: String {
        switch self {
        case .attribute(let request): request.methodName
        case .link(.readRSSI): "readRSSI"
        case .link(.tune): "tune"
        case .openChannel: "openL2CAPChannel"
        }
    }
}

extension AttributeRequest {
    var methodName: String {
        switch self {
        case .discoverServices: "discoverServices"
        case .discoverIncludedServices: "discoverIncludedServices"
        case .discoverCharacteristics: "discoverCharacteristics"
        case .discoverDescriptors: "discoverDescriptors"
        case .read, .readWithoutPairing: "readValue"
        case .write, .writePart, .writeCommand: "writeValue"
        case .subscribe: "setNotifyValue"
        case .forgetDatabase: "forget"
        }
    }
}

extension ServerRequest {
    var methodName: String {
        switch self {
        case .startAdvertising: "startAdvertising"
        case .stopAdvertising: "stopAdvertising"
        case .setLatency: "setDesiredConnectionLatency"
        case .disconnect: "disconnect"
        case .publishChannel: "publishL2CAPChannel"
        case .unpublishChannel: "unpublishL2CAPChannel"
        }
    }
}

extension ServiceRequest {
    var methodName: String {
        switch self {
        case .addService: "add"
        case .removeService: "remove"
        case .removeAllServices: "removeAllServices"
        case .respond: "respond"
        case .update: "updateValue"
        case .reportConfirmations: "reportConfirmations"
        }
    }
}

extension ClientEvent {
    /// The part of the delegate method's name that says what happened, such as `didDiscoverServices`; a similar name if
    /// Core Bluetooth has no such method.
    package var methodName: String {
        switch self {
        case .restored: "willRestoreState"
        case .stateChanged: "didUpdateState"
        case .featuresChanged: "features"
        case .knownPeers: "knownPeers"
        case .systemLinks: "systemLinks"
        case .scanBegan: "scanBegan"
        case .discovered: "didDiscover"
        case .connected: "didConnect"
        case .connectFailed: "didFailToConnect"
        case .disconnected: "didDisconnect"
        case .peer(_, let event, _): event.methodName
        case .server(let event): event.methodName
        case .security: "pairing"
        case .tester: "test"
        case .channel: "channel"
        case .alert: "alert"
        }
    }

    /// True if the app's delegate may be called because of this event.
    package var callsDelegate: Bool {
        switch self {
        case .featuresChanged, .knownPeers, .systemLinks, .scanBegan, .peer(_, .linkChanged, _),
            .peer(_, .mtuChanged, _),
            .server(.centralsConnected), .server(.centralChanged), .server(.confirmed):
            false
        default: true
        }
    }
}

extension PeerEvent {
    var methodName: String {
        switch self {
        case .mtuChanged: "mtu"
        case .nameChanged: "didUpdateName"
        case .linkChanged: "link"
        case .tuned: "tuned"
        case .rssiRead: "didReadRSSI"
        case .servicesDiscovered: "didDiscoverServices"
        case .includedServicesDiscovered: "didDiscoverIncludedServices"
        case .characteristicsDiscovered: "didDiscoverCharacteristics"
        case .descriptorsDiscovered: "didDiscoverDescriptors"
        case .valueRead, .valueNotified: "didUpdateValue"
        case .valueWritten: "didWriteValue"
        case .writeCommandsTaken: "isReadyToSendWriteWithoutResponse"
        case .subscriptionChanged: "didUpdateNotificationState"
        case .servicesModified, .databaseForgotten: "didModifyServices"
        case .channelOpened: "didOpen"
        }
    }
}

extension ServerEvent {
    var methodName: String {
        switch self {
        case .serviceAdded: "didAdd"
        case .advertisingStarted: "didStartAdvertising"
        case .subscribed: "didSubscribe"
        case .unsubscribed: "didUnsubscribe"
        case .readRequested: "didReceiveRead"
        case .writeRequested: "didReceiveWrite"
        case .updatesTaken: "isReadyToUpdateSubscribers"
        case .confirmed: "confirmed"
        case .centralChanged, .centralsConnected: "centrals"
        case .channelPublished: "didPublishL2CAPChannel"
        case .channelUnpublished: "didUnpublishL2CAPChannel"
        case .channelOpened: "didOpen"
        }
    }
}

extension ChannelRequest {
    /// The name of the operation, for log lines.
    var operation: String {
        switch self {
        case .send: "send"
        case .consumed: "consumed"
        case .resize: "resize"
        case .close: "close"
        }
    }
}

extension ChannelEvent {
    var operation: String {
        switch self {
        case .received: "received"
        case .sent: "sent"
        case .resized: "resized"
        case .closed: "closed"
        }
    }
}

extension SecurityRequest {
    var operation: String {
        switch self {
        case .setAgent: "attend"
        case .answer: "answer"
        case .pair: "pair"
        case .setPolicy: "insist"
        case .makeOutOfBandData: "makeOutOfBandData"
        case .takeOutOfBandData: "use out-of-band data"
        case .takeTemporaryKey: "use temporary key"
        case .listBonds: "list bonds"
        case .removeBond: "remove bond"
        }
    }
}

extension SecurityEvent {
    var operation: String {
        switch self {
        case .asked: "asked"
        case .withdrawn: "withdrawn"
        case .paired: "paired"
        case .failed: "failed"
        case .secured: "secured"
        case .bonds: "bonds"
        case .outOfBandDataMade: "out-of-band data made"
        }
    }
}

extension TesterRequest {
    var operation: String {
        switch self {
        case .reset: "reset"
        case .readLocalAddress: "readLocalAddress"
        case .find: "find"
        case .startSet: "startSet"
        case .stopSet: "stopSet"
        case .listen: "listen"
        case .stopListening: "stopListening"
        case .secure: "secure"
        }
    }
}

extension TesterEvent {
    var operation: String {
        switch self {
        case .localAddress: "localAddress"
        case .found: "found"
        case .setStarted: "setStarted"
        case .setEnded: "setEnded"
        case .listening: "listening"
        case .received: "heard"
        case .linkMade: "linkMade"
        case .linkEnded: "linkEnded"
        }
    }
}
