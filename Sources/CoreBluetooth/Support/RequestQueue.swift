import BLEHost
import BLEWire

/// The requests of one app to one peripheral: some with the host, the rest waiting until those are answered.
///
/// Apps ask for as much as they like at once, but a host keeps only so many requests of all its clients for one link.
struct RequestQueue {
    /// How many requests may be with the host.
    static let limit = 16

    private struct Unanswered {
        let request: PeerRequest
        /// Whether the app has its answer already, since what it asked about is gone.
        var isVoid = false
    }

    /// What the host has not answered yet.
    private var unanswered: [Unanswered] = []
    private var waiting: [PeerRequest] = []
    /// Where in `waiting` the next one is; what lies before it has been sent.
    private var next = 0

    /// Adds a request; returns whether to send it now.
    mutating func submit(_ request: PeerRequest) -> Bool {
        guard next == waiting.count, unanswered.count < Self.limit else {
            waiting.append(request)
            return false
        }
        send(request)
        return true
    }

    /// Whether `event` answers a request of which the app has had the answer.
    func isVoid(_ event: PeerEvent) -> Bool {
        unanswered.first { $0.request.isAnswered(by: event) }?.isVoid ?? false
    }

    /// Gives up the requests about attributes in one of `ranges`, which are gone, and returns them.
    ///
    /// Others may take the place of these attributes, and answers tell of handles alone.
    mutating func void(in ranges: [AttributeHandleRange]) -> [PeerRequest] {
        let isGone = { (request: PeerRequest) in ranges.contains { request.isAbout($0) } }
        var given: [PeerRequest] = []
        for index in unanswered.indices where !unanswered[index].isVoid && isGone(unanswered[index].request) {
            unanswered[index].isVoid = true
            given.append(unanswered[index].request)
        }
        given += waiting[next...].filter(isGone)
        waiting = waiting[next...].filter { !isGone($0) }
        next = 0
        return given
    }

    /// Notes what the host says; returns what to send now, if that was an answer.
    mutating func receive(_ event: PeerEvent) -> ArraySlice<PeerRequest> {
        guard let index = unanswered.firstIndex(where: { $0.request.isAnswered(by: event) }) else { return [] }
        unanswered.remove(at: index)
        let first = next
        while next < waiting.count, unanswered.count < Self.limit {
            send(waiting[next])
            next += 1
        }
        let sent = waiting[first..<next]
        if next > waiting.count / 2 {
            waiting.removeFirst(next)
            next = 0
        }
        return sent
    }

    /// Gives up all that was not answered, and returns it.
    mutating func removeAll() -> [PeerRequest] {
        defer { self = RequestQueue() }
        return unanswered.filter { !$0.isVoid }.map(\.request) + waiting[next...]
    }

    /// Whether a subscription to the value with this handle has been asked for and not been answered.
    func isChanging(_ handle: AttributeHandle) -> Bool {
        (unanswered.map(\.request) + waiting[next...]).contains { request in
            if case .subscribe(_, handle, _) = request { true } else { false }
        }
    }

    private mutating func send(_ request: PeerRequest) {
        if case .writeCommand = request { return }
        unanswered.append(Unanswered(request: request))
    }
}

extension PeerRequest {
    /// Whether `event` is what this asked for.
    fileprivate func isAnswered(by event: PeerEvent) -> Bool {
        switch (self, event) {
        case (.readRSSI, .rssiRead), (.discoverServices, .servicesDiscovered): true
        case (.tune(let tuning), .tuned(let done, _)): tuning == done
        case (.discoverIncludedServices(let range, _), .includedServicesDiscovered(let found, _)): range == found
        case (.discoverCharacteristics(let range, _), .characteristicsDiscovered(let found, _)): range == found
        case (.discoverDescriptors(let handle, _), .descriptorsDiscovered(let found, _)): handle == found
        case (.read(let handle), .valueRead(let found, _)): handle == found
        case (.write(let handle, _), .valueWritten(let found, _)): handle == found
        case (.subscribe(_, let handle, _), .subscriptionChanged(let found, _, _)): handle == found
        case (.forgetDatabase, .databaseForgotten): true
        case (.openChannel(let psm), .channelOpened(let found, _)): psm == found
        case (.readRSSI, _), (.tune, _), (.discoverServices, _), (.discoverIncludedServices, _),
            (.discoverCharacteristics, _),
            (.discoverDescriptors, _), (.read, _), (.write, _), (.writeCommand, _), (.subscribe, _),
            (.forgetDatabase, _), (.openChannel, _):
            false
        }
    }
}
