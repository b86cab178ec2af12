/// What the credit-based channels of one link are for, as far as the signals on it have said, and the SDUs on them that
/// are not complete.
///
/// Core 6.0, Vol 3, Part A, 3.4.3 and 4.22 to 4.28.
struct ChannelTrace: Sendable {
    /// How many ends of channels are remembered; the one that was opened first gives way.
    private static let mostEnds = 32
    /// How many requests may wait for an answer; the first one gives way.
    private static let mostRequests = 8

    private struct Request: Sendable {
        let isHosts: Bool
        let identifier: SignalIdentifier
        let spsm: SPSM
        let sources: [ChannelIdentifier]
    }

    /// One end of a channel, to which packets go.
    private struct End: Sendable {
        /// Whether it is this host's, and not the peer's.
        let isHosts: Bool
        let channel: ChannelIdentifier
        let spsm: SPSM
        var collected: [UInt8] = []
        /// How many octets of an SDU are still to come.
        var missing = 0
    }

    private var requests: [Request] = []
    private var ends: [End] = []

    /// Takes a signal, which may open or close channels.
    mutating func learn(_ packet: SignalPacket, isFromHost: Bool) {
        switch packet.signal {
        case .leCreditBasedConnectionRequest(let request):
            asked(
                .init(isHosts: isFromHost, identifier: packet.identifier, spsm: request.spsm, sources: [request.source])
            )
        case .creditBasedConnectionRequest(let request):
            asked(
                .init(isHosts: isFromHost, identifier: packet.identifier, spsm: request.spsm, sources: request.sources)
            )
        case .leCreditBasedConnectionResponse(let response):
            answered(packet.identifier, isFromHost, response.result == .success ? [response.destination] : [])
        case .creditBasedConnectionResponse(let response):
            answered(packet.identifier, isFromHost, response.destinations)
        case .disconnectionResponse(let response):
            ends.removeAll { end in
                end.channel == (end.isHosts == isFromHost ? response.destination : response.source)
            }
        default: break
        }
    }

    private mutating func asked(_ request: Request) {
        if requests.count == Self.mostRequests { requests.removeFirst() }
        requests.append(request)
    }

    private mutating func answered(
        _ identifier: SignalIdentifier,
        _ isFromHost: Bool,
        _ destinations: [ChannelIdentifier]
    ) {
        let asked = requests.firstIndex { $0.identifier == identifier && $0.isHosts != isFromHost }
        guard let asked else { return }
        let request = requests.remove(at: asked)
        for (source, destination) in zip(request.sources, destinations) where destination != .none {
            open(End(isHosts: request.isHosts, channel: source, spsm: request.spsm))
            open(End(isHosts: isFromHost, channel: destination, spsm: request.spsm))
        }
    }

    private mutating func open(_ end: End) {
        ends.removeAll { $0.isHosts == end.isHosts && $0.channel == end.channel }
        if ends.count == Self.mostEnds { ends.removeFirst() }
        ends.append(end)
    }

    /// What a packet on a channel amounts to.
    enum OnFrame: Equatable {
        /// Nobody saw the channel being opened.
        case unknown
        /// A part of an SDU, of which more must come; with the header if it is the first part.
        case part(DissectedLayer?)
        /// A whole SDU: its header, and what it holds.
        case whole(DissectedLayer, [UInt8], isAttribute: Bool)
        /// The last part of an SDU, and all that it holds.
        case last([UInt8], isAttribute: Bool)
        case malformed(PacketError)
    }

    /// Takes the payload of a packet.
    mutating func receive(_ payload: [UInt8], on channel: ChannelIdentifier, isFromHost: Bool) -> OnFrame {
        guard let index = ends.firstIndex(where: { $0.isHosts != isFromHost && $0.channel == channel }) else {
            return .unknown
        }
        return ends[index].missing == 0 ? begin(payload, index) : proceed(payload, index)
    }

    private mutating func begin(_ payload: [UInt8], _ index: Int) -> OnFrame {
        let header: SDUHeader
        do throws(PacketError) {
            var decoder = PacketDecoder(payload.span)
            header = try SDUHeader(from: &decoder)
        } catch { return .malformed(error) }
        let layer = DissectedLayer(name: "L2CAP SDU", fields: header.dissected)
        let data = Array(payload.dropFirst(layer.size)), missing = Int(header.length) - data.count
        guard missing >= 0 else { return .malformed(.trailing(count: -missing)) }
        guard missing > 0 else { return .whole(layer, data, isAttribute: isAttribute(index)) }
        (ends[index].collected, ends[index].missing) = (data, missing)
        return .part(layer)
    }

    private mutating func proceed(_ payload: [UInt8], _ index: Int) -> OnFrame {
        let missing = ends[index].missing - payload.count
        ends[index].missing = max(0, missing)
        guard missing >= 0 else {
            ends[index].collected = []
            return .malformed(.trailing(count: -missing))
        }
        ends[index].collected += payload
        guard missing == 0 else { return .part(nil) }
        defer { ends[index].collected = [] }
        return .last(ends[index].collected, isAttribute: isAttribute(index))
    }

    private func isAttribute(_ index: Int) -> Bool { ends[index].spsm == .enhancedATT }
}

/// What the first packet of an SDU begins with.
///
/// Core 6.0, Vol 3, Part A, 3.4.3.
private struct SDUHeader: Packet {
    /// The length of the SDU, in octets.
    var length: UInt16 = 0

    mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.integer(&length, "L2CAP SDU Length")
    }
}
