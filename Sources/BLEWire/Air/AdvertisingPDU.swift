/// A packet on the advertising channels, primary or secondary.
///
/// Core 6.0, Vol 6, Part B, 2.3.
package enum AdvertisingPDU: Equatable, Sendable {
    /// ADV_IND; `channelSelection` is true if the advertiser supports Channel Selection Algorithm #2.
    case connectable(LL.Advertisement, channelSelection: Bool)
    case directed(LL.DirectedAdvertisement, channelSelection: Bool)
    case nonConnectable(LL.Advertisement)
    case scannable(LL.Advertisement)
    case scanRequest(LL.ScanRequest)
    case scanResponse(LL.Advertisement)
    /// CONNECT_IND or AUX_CONNECT_REQ; `channelSelection` is true if the initiator supports Channel Selection Algorithm
    /// #2.
    case connect(LL.ConnectIndication, channelSelection: Bool)
    case extended(LL.ExtendedAdvertisement)
    case connectResponse(LL.ExtendedAdvertisement)
    /// A PDU with a type that the specification does not define: its header and its payload.
    case unknown(LL.AdvertisingHeader, [UInt8])

    /// Decodes a PDU with its header, without the CRC.
    package init(decoding bytes: Span<UInt8>) throws(PacketError) {
        var decoder = PacketDecoder(bytes)
        let header = try LL.AdvertisingHeader(from: &decoder)
        guard decoder.remaining == Int(header.length) else {
            if decoder.remaining < Int(header.length) { throw .truncated(field: "Payload") }
            throw .trailing(count: decoder.remaining - Int(header.length))
        }
        let payload = decoder.unread
        switch header.type {
        case .connectable:
            self = .connectable(try Self.advertisement(payload, header), channelSelection: header.channelSelection)
        case .nonConnectable: self = .nonConnectable(try Self.advertisement(payload, header))
        case .scannable: self = .scannable(try Self.advertisement(payload, header))
        case .scanResponse: self = .scanResponse(try Self.advertisement(payload, header))
        case .directed:
            var packet = try LL.DirectedAdvertisement(decoding: payload)
            packet.advertiser = DeviceAddress(packet.advertiser.value, header.sender)
            packet.target = DeviceAddress(packet.target.value, header.target)
            self = .directed(packet, channelSelection: header.channelSelection)
        case .scanRequest:
            var packet = try LL.ScanRequest(decoding: payload)
            packet.scanner = DeviceAddress(packet.scanner.value, header.sender)
            packet.advertiser = DeviceAddress(packet.advertiser.value, header.target)
            self = .scanRequest(packet)
        case .connect:
            var packet = try LL.ConnectIndication(decoding: payload)
            packet.initiator = DeviceAddress(packet.initiator.value, header.sender)
            packet.advertiser = DeviceAddress(packet.advertiser.value, header.target)
            self = .connect(packet, channelSelection: header.channelSelection)
        case .extended: self = .extended(try Self.extended(payload, header))
        case .connectResponse: self = .connectResponse(try Self.extended(payload, header))
        default: self = .unknown(header, [UInt8](copying: payload))
        }
    }

    /// Decodes a PDU with its header, without the CRC.
    package init(decoding bytes: [UInt8]) throws(PacketError) { try self.init(decoding: bytes.span) }

    private static func advertisement(
        _ payload: Span<UInt8>,
        _ header: LL.AdvertisingHeader
    ) throws(PacketError) -> LL.Advertisement {
        var packet = try LL.Advertisement(decoding: payload)
        packet.advertiser = DeviceAddress(packet.advertiser.value, header.sender)
        return packet
    }

    private static func extended(
        _ payload: Span<UInt8>,
        _ header: LL.AdvertisingHeader
    ) throws(PacketError) -> LL.ExtendedAdvertisement {
        var packet = try LL.ExtendedAdvertisement(decoding: payload)
        packet.advertiser = packet.advertiser.map { DeviceAddress($0.value, header.sender) }
        packet.target = packet.target.map { DeviceAddress($0.value, header.target) }
        return packet
    }

    /// The encoded PDU with its header, without the CRC.
    package var encoded: [UInt8] {
        let payload: [UInt8]
        switch self {
        case .connectable(let packet, _), .nonConnectable(let packet), .scannable(let packet),
            .scanResponse(let packet):
            payload = packet.encoded
        case .directed(let packet, _): payload = packet.encoded
        case .scanRequest(let packet): payload = packet.encoded
        case .connect(let packet, _): payload = packet.encoded
        case .extended(let packet), .connectResponse(let packet): payload = packet.encoded
        case .unknown(_, let octets): payload = octets
        }
        var header = self.header
        header.length = UInt8(truncatingIfNeeded: payload.count)
        return header.encoded + payload
    }

    private var header: LL.AdvertisingHeader {
        var header = LL.AdvertisingHeader()
        switch self {
        case .connectable(let packet, let selection):
            (header.type, header.sender, header.channelSelection) = (.connectable, packet.advertiser.kind, selection)
        case .nonConnectable(let packet): (header.type, header.sender) = (.nonConnectable, packet.advertiser.kind)
        case .scannable(let packet): (header.type, header.sender) = (.scannable, packet.advertiser.kind)
        case .scanResponse(let packet): (header.type, header.sender) = (.scanResponse, packet.advertiser.kind)
        case .directed(let packet, let selection):
            (header.type, header.channelSelection) = (.directed, selection)
            (header.sender, header.target) = (packet.advertiser.kind, packet.target.kind)
        case .scanRequest(let packet):
            (header.type, header.sender, header.target) = (.scanRequest, packet.scanner.kind, packet.advertiser.kind)
        case .connect(let packet, let selection):
            (header.type, header.channelSelection) = (.connect, selection)
            (header.sender, header.target) = (packet.initiator.kind, packet.advertiser.kind)
        case .extended(let packet), .connectResponse(let packet):
            if case .extended = self { header.type = .extended } else { header.type = .connectResponse }
            header.sender = packet.advertiser?.kind ?? .public
            header.target = packet.target?.kind ?? .public
        case .unknown(let unknown, _): header = unknown
        }
        return header
    }
}
