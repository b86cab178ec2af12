import BLEHost
import BLEWire

/// A model of a host's attributes and of the bearers on which a peer accesses them, which predicts how the host must
/// react to packets.
///
/// It is a second implementation of the specification, for a server with the attributes of ``BearerScene``.
///
/// The requests on a bearer are answered in order, independently of other bearers. All bearers share one queue of
/// prepared writes.
///
/// Core 6.0, Vol 3, Part F, 3.2.11, 3.3.2 and 3.4.6; Part G, 5.3.
struct AttributeOracle {
    /// An action that the host must take after a packet, or after its app has provided or indicated a value.
    enum Effect: Equatable {
        case send([UInt8], on: ChannelIdentifier)
        /// The host asks its app for a value.
        case askToRead
        case askToWrite([WritePart])
    }

    /// A bearer, identified by the host's channel identifier.
    struct Bearer {
        let name: ChannelIdentifier
        /// True while a read on the bearer waits for the app to provide the value.
        ///
        /// Until then, later requests on the bearer stay in ``waiting``.
        var isReading = false
        var waiting: [[UInt8]] = []
        /// The queued indications.
        ///
        /// The first one has been sent, and waits for its confirmation.
        var indications: [[UInt8]] = []
        /// The request from the host that waits for its response; `nil` if there is none.
        var request: Request?
    }

    /// The handle of the value that the app provides, least significant octet first.
    ///
    /// ``value`` is the value itself.
    static let held: [UInt8] = [18, 0]
    static let value: [UInt8] = [1, 2, 3]

    var bearers = [Bearer(name: .attribute)]
    /// The bearers on which a read waits for the app, in the order of the reads.
    private(set) var readings: [ChannelIdentifier] = []
    private var prepared: [WritePart] = []
    /// The handles of the app's requests that have no result yet, in order.
    ///
    /// ``outcomes`` has the allowed results by handle.
    var asked: [UInt16] = []
    var outcomes: [UInt16: [Outcome]] = [:]
    /// The octets read so far of each value that is read in several parts, by handle.
    var beginnings: [UInt16: [UInt8]] = [:]
    /// True if a request from the host may be waiting for credits; the oracle then does not know what the app may
    /// receive.
    var cannotPredictApp = false

    func index(of name: ChannelIdentifier) -> Int? { bearers.firstIndex { $0.name == name } }

    mutating func opened(_ name: ChannelIdentifier) { bearers.append(Bearer(name: name)) }

    /// Processes the end of a bearer.
    ///
    /// The outstanding request fails. The queued indications move to the unenhanced bearer, except the one that has
    /// been sent.
    mutating func closed(_ name: ChannelIdentifier) -> [Effect] {
        guard let index = index(of: name) else { return [] }
        let lost = bearers.remove(at: index)
        if let request = lost.request { outcomes[request.handle, default: []].append(.failure) }
        return lost.indications.dropFirst().flatMap { indicate($0, on: .attribute) }
    }

    /// Predicts the actions of the host after a packet on a bearer.
    mutating func receive(_ packet: [UInt8], on name: ChannelIdentifier) -> [Effect] {
        guard let index = index(of: name), let opcode = packet.first else { return [] }
        switch opcode {
        case 0x1D: return [.send([0x1E], on: name)]
        case 0x1E: return confirm(at: index)
        case 0x1B, 0x23: return []
        case 0x01, 0x03, 0x05, 0x07, 0x09, 0x0B, 0x0D, 0x0F, 0x11, 0x13, 0x17, 0x19, 0x21:
            answered(packet, at: index)
            return []
        default: return opcode & 0x40 == 0 ? serve(packet, at: index) : []
        }
    }

    private mutating func serve(_ packet: [UInt8], at index: Int) -> [Effect] {
        guard !bearers[index].isReading else {
            bearers[index].waiting.append(packet)
            return []
        }
        let name = bearers[index].name
        func send(_ answer: [UInt8]) -> Effect { .send(answer, on: name) }
        switch (packet[0], packet.count) {
        case (0x0A, 3) where packet.suffix(2) == Self.held[...]:
            bearers[index].isReading = true
            readings.append(name)
            return [.askToRead]
        case (0x12, 3...) where packet[1...2] == Self.held[...]:
            return [.askToWrite([part(0, packet.dropFirst(3))]), send([0x13])]
        case (0x16, 5...):
            prepared.append(part(Int(packet[3]) + 256 * Int(packet[4]), packet.dropFirst(5)))
            return [send([0x17] + packet.dropFirst())]
        case (0x18, 2):
            defer { prepared = [] }
            return packet[1] == 1 && !prepared.isEmpty
                ? [.askToWrite(prepared), send([0x19])] : [send([0x19])]
        default: return [send(Self.answer(to: packet))]
        }
    }

    private func part(_ offset: Int, _ value: ArraySlice<UInt8>) -> WritePart {
        WritePart(attribute: BearerScene.held, offset: offset, value: [UInt8](value))
    }

    /// Predicts the actions of the host after the app has provided the value for the oldest read.
    mutating func answerReading() -> [Effect] {
        guard !readings.isEmpty, let index = index(of: readings.removeFirst()) else { return [] }
        var effects = [Effect.send([0x0B] + Self.value, on: bearers[index].name)]
        bearers[index].isReading = false
        while !bearers[index].isReading, !bearers[index].waiting.isEmpty {
            effects += serve(bearers[index].waiting.removeFirst(), at: index)
        }
        return effects
    }

    /// Predicts the actions of the host after the app has indicated a value.
    mutating func indicate(_ packet: [UInt8], on name: ChannelIdentifier) -> [Effect] {
        guard let index = index(of: name) else { return [] }
        bearers[index].indications.append(packet)
        return bearers[index].indications.count == 1 ? [.send(packet, on: name)] : []
    }

    private mutating func confirm(at index: Int) -> [Effect] {
        guard !bearers[index].indications.isEmpty else { return [] }
        bearers[index].indications.removeFirst()
        return bearers[index].indications.first.map { [.send($0, on: bearers[index].name)] } ?? []
    }

    /// Returns the response to a request whose response does not depend on earlier packets.
    private static func answer(to packet: [UInt8]) -> [UInt8] {
        if let answer = answers[packet.hexadecimal] { return HostilePacket(answer, .nothing).octets }
        let isKnown = packet[0] == 0x0A
        return [0x01, packet[0], 0, 0, isKnown ? 0x04 : 0x06]
    }

    /// The response to each request, both in hexadecimal digits.
    ///
    /// The device name is "Victim". The MTU request is refused, because the adversary sends it on enhanced bearers,
    /// where it is not allowed.
    private static let answers = [
        "0a0300": "0b56696374696d", "0a0000": "010a000001", "0aff00": "010aff0001",
        "024000": "0102000006",
        "0c03000200": "0d6374696d", "0c0300ffff": "010c030007", "0403000300": "05010300002a",
        "080100ffff002a": "0908030056696374696d", "120300aa": "0112030003",
        "0e03000300": "0f56696374696d56696374696d",
        "2003000300": "21060056696374696d060056696374696d",
    ]
}
