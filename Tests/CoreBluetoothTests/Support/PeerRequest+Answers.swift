import BLEHost

extension PeerRequest {
    /// Whether `event` is what this asked for.
    func isAnswered(by event: PeerEvent) -> Bool {
        switch (self, event) {
        case (.link(.readRSSI), .rssiRead): true
        case (.link(.tune(let tuning)), .tuned(let done, _)): tuning == done
        case (.attribute(let request), _): request.isAnswered(by: event)
        case (.openChannel(let psm), .channelOpened(let found, _)): psm == found
        case (.link, _), (.openChannel, _): false
        }
    }
}

extension AttributeRequest {
    /// Whether `event` is what this asked for.
    fileprivate func isAnswered(by event: PeerEvent) -> Bool {
        switch (self, event) {
        case (.discoverServices, .servicesDiscovered): true
        case (.discoverIncludedServices(let range, _), .includedServicesDiscovered(let found, _)): range == found
        case (.discoverCharacteristics(let range, _), .characteristicsDiscovered(let found, _)): range == found
        case (.discoverDescriptors(let handle, _), .descriptorsDiscovered(let found, _)): handle == found
        case (.read(let handle), .valueRead(let found, _)): handle == found
        case (.readWithoutPairing(let handle), .valueRead(let found, _)): handle == found
        case (.write(let handle, _), .valueWritten(let found, _)): handle == found
        case (.writePart(let handle, _, _), .valueWritten(let found, _)): handle == found
        case (.subscribe(_, let handle, _), .subscriptionChanged(let found, _, _)): handle == found
        case (.forgetDatabase, .databaseForgotten): true
        case (.discoverServices, _), (.discoverIncludedServices, _), (.discoverCharacteristics, _),
            (.discoverDescriptors, _), (.read, _), (.readWithoutPairing, _), (.write, _), (.writePart, _),
            (.writeCommand, _), (.subscribe, _), (.forgetDatabase, _):
            false
        }
    }
}
