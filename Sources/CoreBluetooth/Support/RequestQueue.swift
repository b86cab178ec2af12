import BLEHost

/// The requests of one app to one peripheral: some with the host, the rest waiting until those are answered.
///
/// Apps ask for as much as they like at once, but a host keeps only so many requests of all its clients for one link.
struct RequestQueue {
    /// How many requests may be with the host.
    static let limit = 16

    private var unanswered = 0
    private var waiting: [PeerRequest] = []
    /// Where in `waiting` the next one is; what lies before it has been sent.
    private var next = 0

    /// Whether a request would be sent at once.
    private var isClear: Bool { next == waiting.count && unanswered < Self.limit }

    /// Adds a request; returns whether to send it now.
    mutating func submit(_ request: PeerRequest) -> Bool {
        guard isClear else {
            waiting.append(request)
            return false
        }
        if request.isAnswered { unanswered += 1 }
        return true
    }

    /// Notes that one was answered; returns what to send now.
    mutating func answered() -> ArraySlice<PeerRequest> {
        unanswered = max(0, unanswered - 1)
        let first = next
        while next < waiting.count, unanswered < Self.limit {
            if waiting[next].isAnswered { unanswered += 1 }
            next += 1
        }
        let sent = waiting[first..<next]
        if next > waiting.count / 2 {
            waiting.removeFirst(next)
            next = 0
        }
        return sent
    }

    /// Gives up all that waits, and returns it.
    mutating func removeAll() -> ArraySlice<PeerRequest> {
        defer { self = RequestQueue() }
        return waiting[next...]
    }
}

extension PeerRequest {
    /// Whether the host answers it by itself.
    fileprivate var isAnswered: Bool {
        switch self {
        case .writeCommand: false
        case .readRSSI, .discoverServices, .discoverIncludedServices, .discoverCharacteristics, .discoverDescriptors,
            .read, .write, .subscribe:
            true
        }
    }
}

extension PeerEvent {
    /// Whether this is the answer to a request.
    var isAnswer: Bool {
        switch self {
        case .rssiRead, .servicesDiscovered, .includedServicesDiscovered, .characteristicsDiscovered,
            .descriptorsDiscovered, .valueRead, .valueWritten, .subscriptionChanged:
            true
        case .mtuChanged, .nameChanged, .writeCommandsTaken, .valueNotified, .servicesModified: false
        }
    }
}
