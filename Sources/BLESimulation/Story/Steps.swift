import BLEHost

extension ClientRequest {
    /// What the request is called in Core Bluetooth.
    var step: String {
        switch self {
        case .scan: "scanForPeripherals"
        case .stopScan: "stopScan"
        case .connect: "connect"
        case .cancelConnection: "cancelPeripheralConnection"
        case .peer(_, let request, _): request.step
        case .server(let request): request.step
        case .service(let request): request.step
        case .channel: "channel"
        case .security: "pairing"
        case .tester: "test"
        case .appMoved: "appMoved"
        case .showAlerts: "alerts"
        }
    }

    /// The request in a line that is not long.
    var brief: String { shortened("\(self)", after: step) }
}

extension PeerRequest {
    fileprivate var step: String {
        switch self {
        case .attribute(let request): request.step
        case .link(.readRSSI): "readRSSI"
        case .link(.tune): "tune"
        case .openChannel: "openL2CAPChannel"
        }
    }
}

extension AttributeRequest {
    fileprivate var step: String {
        switch self {
        case .discoverServices: "discoverServices"
        case .discoverIncludedServices: "discoverIncludedServices"
        case .discoverCharacteristics: "discoverCharacteristics"
        case .discoverDescriptors: "discoverDescriptors"
        case .read: "readValue"
        case .write, .writeCommand: "writeValue"
        case .subscribe: "setNotifyValue"
        case .forgetDatabase: "forget"
        }
    }
}

extension ServerRequest {
    fileprivate var step: String {
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
    fileprivate var step: String {
        switch self {
        case .addService: "add"
        case .removeService: "remove"
        case .removeAllServices: "removeAllServices"
        case .respond: "respond"
        case .update: "updateValue"
        }
    }
}

extension ClientEvent {
    /// What the event is called in Core Bluetooth, without the parts about whom it concerns.
    var step: String {
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
        case .peer(_, let event, _): event.step
        case .server(let event): event.step
        case .security: "pairing"
        case .tester: "test"
        case .channel: "channel"
        case .alert: "alert"
        }
    }

    /// Whether it tells an app something.
    var isTold: Bool {
        switch self {
        case .featuresChanged, .knownPeers, .systemLinks, .scanBegan, .peer(_, .linkChanged, _),
            .peer(_, .mtuChanged, _),
            .server(.centralsConnected), .server(.centralChanged):
            false
        default: true
        }
    }

    /// The event in a line that is not long.
    var brief: String { shortened("\(self)", after: step) }
}

extension PeerEvent {
    fileprivate var step: String {
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
    fileprivate var step: String {
        switch self {
        case .serviceAdded: "didAdd"
        case .advertisingStarted: "didStartAdvertising"
        case .subscribed: "didSubscribe"
        case .unsubscribed: "didUnsubscribe"
        case .readRequested: "didReceiveRead"
        case .writeRequested: "didReceiveWrite"
        case .updatesTaken: "isReadyToUpdateSubscribers"
        case .centralChanged, .centralsConnected: "centrals"
        case .channelPublished: "didPublishL2CAPChannel"
        case .channelUnpublished: "didUnpublishL2CAPChannel"
        case .channelOpened: "didOpen"
        }
    }
}

/// A step and what there is to say of it, cut off where it gets long.
private func shortened(_ text: String, after step: String) -> String {
    let plain = text.replacing("BLEHost.", with: "").replacing("BLEWire.", with: "")
    return plain.count > 160 ? "\(step)  \(plain.prefix(160))…" : "\(step)  \(plain)"
}
