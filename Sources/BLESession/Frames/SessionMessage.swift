package import BLEHost
package import BLEWire

/// A message from an app to the daemon.
package enum AppMessage: TaggedEnum, Packet {
    /// The app requests a session, with the first message of a connection.
    case hello(Hello)
    /// A request. Requests have consecutive numbers, starting with 1.
    case request(UInt32, ClientRequest)
    /// The app closes its session. If a connection ends without this message, the app has ended.
    case close
    /// A question, sent instead of a greeting. Questions are answered in order.
    case question(Question)
    /// The number of advertising reports that were dropped in the app's process since the session began, because the
    /// app is too slow, and whether that goes on. Supported since protocol version 4.
    case reportsDropped(UInt64, areOngoing: Bool)

    package init() { self = .close }

    package var code: UInt8 {
        switch self {
        case .hello: 1
        case .request: 2
        case .close: 3
        case .question: 4
        case .reportsDropped: 5
        }
    }

    package init?(blank code: UInt8) {
        switch code {
        case 1: self = .hello(Hello())
        case 2: self = .request(0, ClientRequest())
        case 3: self = .close
        case 4: self = .question(Question())
        case 5: self = .reportsDropped(0, areOngoing: false)
        default: return nil
        }
    }

    package mutating func fields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .hello(var hello):
            try hello.layout(&wire)
            self = .hello(hello)
        case .request(var number, var request):
            try wire.integer(&number, "Number")
            try request.layout(&wire)
            self = .request(number, request)
        case .close: break
        case .question(var question):
            try question.layout(&wire)
            self = .question(question)
        case .reportsDropped(var total, var areOngoing):
            try wire.integer(&total, "Total")
            try wire.flag(&areOngoing, "Ongoing")
            self = .reportsDropped(total, areOngoing: areOngoing)
        }
    }

    /// Parses a message.
    ///
    /// Octets after the last field that this version knows come from a newer version, and are skipped.
    package init(reading octets: Span<UInt8>) throws(PacketError) {
        var decoder = PacketDecoder(octets)
        try self.init(from: &decoder)
    }

    /// Returns the number of the request in `octets`, even if the request itself is unknown; `nil` if `octets` are not
    /// a request.
    package static func number(ofRequestIn octets: Span<UInt8>) -> UInt32? {
        guard octets.count >= 5, octets[0] == Self.request(0, ClientRequest()).code else { return nil }
        var decoder = PacketDecoder(octets.extracting(droppingFirst: 1)), number: UInt32 = 0
        do throws(PacketError) { try decoder.integer(&number, "Number") } catch { return nil }
        return number
    }
}

/// A message from the daemon to an app.
package enum DaemonMessage: TaggedEnum, Packet {
    /// The app has a session.
    case welcome(Welcome)
    /// The app gets no session, or its session has ended. The daemon will close the connection.
    case refused(Refusal)
    /// An event from the host.
    case event(ClientEvent)
    /// All requests up to this number have been processed: passed to the host, or refused.
    case taken(UInt32)
    /// The request with this number is refused.
    case requestRefused(UInt32, Refusal)
    /// The answer to a question.
    case answer(Answer)
    /// The number of advertising reports that the daemon has dropped on this connection, because the app does not read
    /// fast enough. It is sent before the next event. Older apps ignore it.
    case reportsDropped(UInt64)

    package init() { self = .taken(0) }

    package var code: UInt8 {
        switch self {
        case .welcome: 1
        case .refused: 2
        case .event: 3
        case .taken: 4
        case .requestRefused: 5
        case .answer: 6
        case .reportsDropped: 7
        }
    }

    package init?(blank code: UInt8) {
        switch code {
        case 1: self = .welcome(Welcome())
        case 2: self = .refused(Refusal())
        case 3: self = .event(ClientEvent())
        case 4: self = .taken(0)
        case 5: self = .requestRefused(0, Refusal())
        case 6: self = .answer(Answer())
        case 7: self = .reportsDropped(0)
        default: return nil
        }
    }

    package mutating func fields(_ wire: inout some AnyWire) throws(PacketError) {
        switch self {
        case .welcome(var welcome):
            try welcome.layout(&wire)
            self = .welcome(welcome)
        case .refused(var refusal):
            try refusal.layout(&wire)
            self = .refused(refusal)
        case .event(var event):
            try event.layout(&wire)
            self = .event(event)
        case .taken(var number):
            try wire.integer(&number, "Number")
            self = .taken(number)
        case .requestRefused(var number, var refusal):
            try wire.integer(&number, "Number")
            try refusal.layout(&wire)
            self = .requestRefused(number, refusal)
        case .answer(var answer):
            try answer.layout(&wire)
            self = .answer(answer)
        case .reportsDropped(var total):
            try wire.integer(&total, "Total")
            self = .reportsDropped(total)
        }
    }

    /// Parses a message.
    ///
    /// Octets after the last field that this version knows come from a newer version, and are skipped.
    package init(reading octets: Span<UInt8>) throws(PacketError) {
        var decoder = PacketDecoder(octets)
        try self.init(from: &decoder)
    }
}
