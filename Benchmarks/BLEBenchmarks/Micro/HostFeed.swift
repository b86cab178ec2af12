import BLEHost
import BLEWire

/// A replacement for the controller of one host, for one link.
struct HostFeed {
    private let client: ClientID
    private let link: [UInt8]
    private var now: Instant
    private var outputs: [Host.Output] = []
    private var sent = OutgoingPackets()
    /// The event that returns buffers of the link.
    ///
    /// Their number is set before each use.
    private var completed: [UInt8]
    /// The outputs and packets of the host; collected only while this is not `nil`.
    var kept: (outputs: [Host.Output], packets: [UInt8])?

    /// Creates a feed.
    ///
    /// - Parameters:
    ///   - client: The client that makes requests.
    ///   - packet: Any data packet of the link.
    ///   - now: The current time of the host.
    init(client: ClientID, link packet: [UInt8], now: Instant) {
        self.client = client
        link = [packet[1], packet[2] & 0x0F]
        completed = [0x04, 0x13, 0x05, 0x01] + link + [0, 0]
        self.now = now
    }

    /// Returns an ATT PDU in a data packet from the controller.
    func packet(_ pdu: [UInt8]) -> [UInt8] {
        let frame = UInt16(pdu.count).littleEndianOctets + [0x04, 0x00] + pdu
        return [0x02, link[0], link[1] | 0x20] + UInt16(frame.count).littleEndianOctets + frame
    }

    /// Returns an ATT PDU in a data packet from the host.
    func sentPacket(_ pdu: [UInt8]) -> [UInt8] {
        var packet = packet(pdu)
        packet[2] = link[1]
        return packet
    }

    /// Makes a request `count` times, without giving buffers back to the host.
    ///
    /// The resulting events are ignored.
    mutating func leave(_ request: ClientRequest, _ count: Int, with host: inout Host) {
        for _ in 0..<count { host.perform(request, for: client, at: now) }
        _ = takeAll(from: &host)
    }

    /// Delivers a packet to the host `count` times; returns the number of resulting events.
    mutating func hear(_ packet: [UInt8], _ count: Int, by host: inout Host) -> Int {
        now = now.later(byNanoseconds: 50_000)
        for _ in 0..<count { host.receive(packet.span, at: now) }
        return takeAll(from: &host).others
    }

    /// Delivers a request to the host, and responds as the app; returns the number of resulting packets.
    ///
    /// The response to a read is `value`.
    mutating func serve(_ packet: [UInt8], by host: inout Host, value: [UInt8]) -> Int {
        now = now.later(byNanoseconds: 50_000)
        host.receive(packet.span, at: now)
        var packets = 0
        while true {
            host.takeAll(into: &outputs, &sent)
            if outputs.isEmpty, sent.isEmpty { break }
            packets += sent.count
            keep()
            sent.removeAll()
            answer(to: &host, value: value)
            if !outputs.isEmpty { outputs.removeAll(keepingCapacity: true) }
        }
        giveBack(packets, to: &host)
        return packets
    }

    /// Responds to the host's requests as the app.
    ///
    /// Reads events in place, without copies.
    private func answer(to host: inout Host, value: [UInt8]) {
        let said = outputs.span
        for index in said.indices {
            guard let asked = said[index].asked else { continue }
            let answer = asked.isRead ? value : []
            host.perform(.service(.respond(asked.transaction, .success(answer))), for: client, at: now)
        }
    }

    /// Makes a request `count` times while earlier ones wait, and then gives `count` buffers back to the host.
    ///
    /// Returns the number of resulting packets.
    mutating func sayBehind(_ request: ClientRequest, _ count: Int, to host: inout Host) -> Int {
        now = now.later(byNanoseconds: 50_000)
        for _ in 0..<count { host.perform(request, for: client, at: now) }
        let packets = takeAll(from: &host).packets
        return packets + giveBack(count, to: &host)
    }

    /// Makes a request `count` times; returns the number of resulting packets.
    mutating func say(_ request: ClientRequest, _ count: Int, to host: inout Host) -> Int {
        now = now.later(byNanoseconds: 50_000)
        for _ in 0..<count { host.perform(request, for: client, at: now) }
        let packets = takeAll(from: &host).packets
        giveBack(packets, to: &host)
        return packets
    }

    /// Makes a request and delivers the peer's response; returns the number of resulting events.
    mutating func ask(_ request: ClientRequest, answer packet: [UInt8], of host: inout Host) -> Int {
        now = now.later(byNanoseconds: 50_000)
        host.perform(request, for: client, at: now)
        let packets = takeAll(from: &host).packets
        giveBack(packets, to: &host)
        host.receive(packet.span, at: now)
        return takeAll(from: &host).others
    }

    private mutating func takeAll(from host: inout Host) -> (packets: Int, others: Int) {
        host.takeAll(into: &outputs, &sent)
        let result = (packets: sent.count, others: outputs.count)
        keep()
        sent.removeAll()
        if !outputs.isEmpty { outputs.removeAll(keepingCapacity: true) }
        return result
    }

    private mutating func keep() {
        guard kept != nil else { return }
        kept?.outputs += outputs
        kept?.packets += sent.octets
    }

    /// Gives `count` buffers back to the host, as a controller does when packets have been acknowledged.
    ///
    /// Returns the number of resulting packets.
    @discardableResult
    private mutating func giveBack(_ count: Int, to host: inout Host) -> Int {
        guard count > 0 else { return 0 }
        completed[6] = UInt8(truncatingIfNeeded: count)
        host.receive(completed.span, at: now)
        return takeAll(from: &host).packets
    }
}

extension Host.Output {
    /// The transaction to which the app must respond, and whether it is a read; `nil` if this output is not a request.
    fileprivate var asked: (transaction: ServerTransaction, isRead: Bool)? {
        switch self {
        case .event(.server(.readRequested(let transaction, _, _, _)), _): (transaction, true)
        case .event(.server(.writeRequested(let transaction?, _, _)), _): (transaction, false)
        case .packet, .event, .remember, .loadPeers, .resetTransport, .note: nil
        }
    }
}
