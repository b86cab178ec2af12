/// The credit-based channels of one link, with their services and their incomplete SDUs.
///
/// The trace learns which channels there are from the signalling packets.
///
/// Core 6.0, Vol 3, Part A, 3.4.3 and 4.22 to 4.28.
struct ChannelTrace: Sendable {
    /// The maximum number of stored channel ends; beyond that, the oldest one is dropped.
    private static let mostEnds = 32
    /// The maximum number of stored requests without a response; beyond that, the oldest one is dropped.
    private static let mostRequests = 8

    private struct Request: Sendable {
        let isHosts: Bool
        let identifier: SignalIdentifier
        let spsm: SPSM
        let sources: [ChannelIdentifier]
    }

    /// One end of a channel, with the SDU that this end is receiving.
    private struct End: Sendable {
        /// True for the host's end, false for the peer's.
        let isHosts: Bool
        let channel: ChannelIdentifier
        let spsm: SPSM
        var collected: [UInt8] = []
        /// The number of octets of the current SDU that have not arrived yet.
        var missing = 0
    }

    private var requests: [Request] = []
    private var ends: [End] = []

    /// Processes a signalling packet, which may open or close channels.
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

    /// Drops the state for one direction of a channel, or of all channels if `channel` is `nil`, after octets have been
    /// lost in that direction.
    ///
    /// The start of the next SDU is then unknown, so later packets are shown as octets.
    mutating func forget(_ channel: ChannelIdentifier?, isFromHost: Bool) {
        ends.removeAll { $0.isHosts != isFromHost && (channel == nil || $0.channel == channel) }
    }

    /// The part of an SDU that a packet on a channel contains.
    enum OnFrame: Equatable {
        /// The trace has no state for the channel: it has not received the packets that opened the channel, or it has
        /// dropped the state.
        case unknown
        /// A part of an SDU that is still incomplete; the layer is the SDU's header in the first part, and `nil` in
        /// later parts.
        case part(DissectedLayer?)
        /// A complete SDU in one packet: its header and contents; `isAttribute` is true on an Enhanced ATT bearer.
        case whole(DissectedLayer, [UInt8], isAttribute: Bool)
        /// The last part of an SDU, with the contents of the whole SDU; `isAttribute` is true on an Enhanced ATT
        /// bearer.
        case last([UInt8], isAttribute: Bool)
        case malformed(PacketError)
    }

    /// Processes the payload of an L2CAP packet.
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

/// The header of an SDU, in the first packet of the SDU.
///
/// Core 6.0, Vol 3, Part A, 3.4.3.
private struct SDUHeader: Packet {
    /// The length of the SDU, in octets.
    var length: UInt16 = 0

    mutating func layout(_ wire: inout some AnyWire) throws(PacketError) {
        try wire.integer(&length, "L2CAP SDU Length")
    }
}
