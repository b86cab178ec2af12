package import BLEHost
package import BLEWire

/// A message about the value of one attribute of a peer, without a failure.
///
/// Most messages are of this kind, so this type encodes and decodes them in place, faster than ``AppMessage`` and
/// ``DaemonMessage``. The octets are the same as those of the corresponding ``AppMessage/request(_:_:)`` or
/// ``DaemonMessage/event(_:)``.
///
/// | octets | content |
/// | --- | --- |
/// | 1 | the code of a message with a request, or with an event |
/// | 4, only in requests | the number of the message |
/// | 1 | the code of a request to a peer, or of an event about a peer |
/// | 16 | the identifier of the peer |
/// | 1 | the code of ``Kind`` |
/// | 2 | the handle of the value |
/// | 1, only in results | 0, because there is no failure |
/// | 4, unless the kind has no value | the length of the value in octets, and then the value |
/// | 4, only if not 0 | the number by which the app recognizes the result |
package struct ValueMessage: Equatable, Sendable {
    /// The kinds of requests and events.
    package enum Kind: Sendable {
        case read, write, writeCommand
        case valueRead, valueWritten, valueNotified

        var isRequest: Bool {
            switch self {
            case .read, .write, .writeCommand: true
            case .valueRead, .valueWritten, .valueNotified: false
            }
        }

        var hasValue: Bool {
            switch self {
            case .write, .writeCommand, .valueRead, .valueNotified: true
            case .read, .valueWritten: false
            }
        }

        /// True if an octet says that there is no failure.
        var isResult: Bool {
            switch self {
            case .valueRead, .valueWritten: true
            case .read, .write, .writeCommand, .valueNotified: false
            }
        }

        fileprivate var code: UInt8 {
            let codes = Codes.own
            return switch self {
            case .read: codes.read
            case .write: codes.write
            case .writeCommand: codes.writeCommand
            case .valueRead: codes.valueRead
            case .valueWritten: codes.valueWritten
            case .valueNotified: codes.valueNotified
            }
        }
    }

    /// The codes that the declarations of the general messages assign.
    private struct Codes {
        static let own = Codes()
        let request = AppMessage.request(0, .stopScan).code
        let event = DaemonMessage.event(.blank).code
        let peerRequest = ClientRequest.peer(.blank, .readRSSI).code
        let peerEvent = ClientEvent.blank.code
        let read = AttributeRequest.read(.none).code
        let write = AttributeRequest.write(.none, []).code
        let writeCommand = AttributeRequest.writeCommand(.none, []).code
        let valueRead = PeerEvent.valueRead(.none, .success([])).code
        let valueWritten = PeerEvent.valueWritten(.none, nil).code
        let valueNotified = PeerEvent.valueNotified(.none, []).code

        func kind(_ code: UInt8, isRequest: Bool) -> Kind? {
            if isRequest {
                code == read ? .read : code == write ? .write : code == writeCommand ? .writeCommand : nil
            } else {
                code == valueNotified
                    ? .valueNotified : code == valueRead ? .valueRead : code == valueWritten ? .valueWritten : nil
            }
        }
    }

    package let kind: Kind
    /// The number of the message; 0 for an event.
    package let message: UInt32
    package let peer: PeerIdentifier
    package let handle: AttributeHandle
    /// The value; empty if the kind has none.
    package let value: [UInt8]
    package let number: RequestNumber

    /// Creates a message with a request; returns `nil` if the request is of another kind.
    package init?(_ message: UInt32, _ request: ClientRequest) {
        guard case .peer(let peer, .attribute(let attribute), let number) = request else { return nil }
        switch attribute {
        case .read(let handle): (kind, self.handle, value) = (.read, handle, [])
        case .write(let handle, let value): (kind, self.handle, self.value) = (.write, handle, value)
        case .writeCommand(let handle, let value): (kind, self.handle, self.value) = (.writeCommand, handle, value)
        default: return nil
        }
        (self.message, self.peer, self.number) = (message, peer, number)
    }

    /// Creates a message with an event; returns `nil` if the event is of another kind, or reports a failure.
    package init?(_ event: ClientEvent) {
        guard case .peer(let peer, let content, let number) = event else { return nil }
        switch content {
        case .valueNotified(let handle, let value): (kind, self.handle, self.value) = (.valueNotified, handle, value)
        case .valueRead(let handle, .success(let value)): (kind, self.handle, self.value) = (.valueRead, handle, value)
        case .valueWritten(let handle, nil): (kind, self.handle, value) = (.valueWritten, handle, [])
        default: return nil
        }
        (message, self.peer, self.number) = (0, peer, number)
    }

    /// The request; `nil` if the message has an event.
    package var request: ClientRequest? {
        switch kind {
        case .read: .peer(peer, .attribute(.read(handle)), number)
        case .write: .peer(peer, .attribute(.write(handle, value)), number)
        case .writeCommand: .peer(peer, .attribute(.writeCommand(handle, value)), number)
        case .valueRead, .valueWritten, .valueNotified: nil
        }
    }

    /// The event; `nil` if the message has a request.
    package var event: ClientEvent? {
        switch kind {
        case .valueRead: .peer(peer, .valueRead(handle, .success(value)), answering: number)
        case .valueWritten: .peer(peer, .valueWritten(handle, nil), answering: number)
        case .valueNotified: .peer(peer, .valueNotified(handle, value), answering: number)
        case .read, .write, .writeCommand: nil
        }
    }

    /// Parses a request from an app, or an event from the daemon; returns `nil` if the message is of another kind, or
    /// invalid.
    package init?(reading octets: Span<UInt8>, isRequest: Bool) {
        let codes = Codes.own, start = isRequest ? 5 : 1
        guard octets.count >= start + 20, octets[0] == (isRequest ? codes.request : codes.event),
            octets[start] == (isRequest ? codes.peerRequest : codes.peerEvent),
            let kind = codes.kind(octets[start + 17], isRequest: isRequest)
        else { return nil }
        self.kind = kind
        message = isRequest ? UInt32(truncatingIfNeeded: octets.number(at: 1, octets: 4)) : 0
        let low = UInt128(octets.number(at: start + 1, octets: 8))
        peer = PeerIdentifier(rawValue: UInt128(octets.number(at: start + 9, octets: 8)) &<< 64 | low)
        handle = AttributeHandle(wire: UInt16(truncatingIfNeeded: octets.number(at: start + 18, octets: 2)))
        var position = start + 20
        if kind.isResult {
            guard octets.count > position, octets[position] == 0 else { return nil }
            position += 1
        }
        if kind.hasValue {
            guard octets.count - position >= 4 else { return nil }
            let count = octets.number(at: position, octets: 4)
            position += 4
            guard count <= UInt64(octets.count - position) else { return nil }
            value = [UInt8](copying: octets.extracting(position..<(position + Int(count))))
            position += Int(count)
        } else {
            value = []
        }
        if octets.count == position {
            number = .none
        } else {
            guard octets.count - position >= 4 else { return nil }
            number = RequestNumber(rawValue: UInt32(truncatingIfNeeded: octets.number(at: position, octets: 4)))
        }
    }

    /// The number of octets of the message.
    var octets: Int {
        (kind.isRequest ? 25 : 21) + (kind.isResult ? 1 : 0) + (kind.hasValue ? 4 + value.count : 0)
            + (number == .none ? 0 : 4)
    }

    /// Appends the message to what `encoder` contains.
    func append(to encoder: inout PacketEncoder) {
        let codes = Codes.own
        var header = Header()
        header.append(kind.isRequest ? codes.request : codes.event)
        if kind.isRequest { header.append(UInt64(message), octets: 4) }
        header.append(kind.isRequest ? codes.peerRequest : codes.peerEvent)
        header.append(UInt64(truncatingIfNeeded: peer.rawValue), octets: 8)
        header.append(UInt64(truncatingIfNeeded: peer.rawValue &>> 64), octets: 8)
        header.append(kind.code)
        header.append(UInt64(handle.wire), octets: 2)
        if kind.isResult { header.append(0) }
        if kind.hasValue { header.append(UInt64(truncatingIfNeeded: value.count), octets: 4) }
        encoder.append(copying: header.octets.span.extracting(0..<header.count))
        if kind.hasValue { encoder.append(contentsOf: value) }
        guard number != .none else { return }
        header = Header()
        header.append(UInt64(number.rawValue), octets: 4)
        encoder.append(copying: header.octets.span.extracting(0..<header.count))
    }

    /// The octets before the value.
    private struct Header {
        private(set) var octets = InlineArray<30, UInt8>(repeating: 0)
        private(set) var count = 0

        mutating func append(_ octet: UInt8) {
            octets[count] = octet
            count += 1
        }

        /// Appends a number, least significant octet first.
        mutating func append(_ number: UInt64, octets count: Int) {
            for index in 0..<count { append(UInt8(truncatingIfNeeded: number &>> UInt64(8 * index))) }
        }
    }
}

extension ClientEvent {
    fileprivate static var blank: Self { .peer(.blank, .valueNotified(.none, [])) }
}

extension Span<UInt8> {
    /// Returns the number in `count` octets, least significant first; the caller has checked that they exist.
    fileprivate func number(at start: Int, octets count: Int) -> UInt64 {
        var number: UInt64 = 0
        for index in 0..<count { number |= UInt64(self[start + index]) &<< UInt64(8 * index) }
        return number
    }
}
