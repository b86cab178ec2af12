import BLEHost
import BLEWire

/// What a controller would hand to one host, and take from it, over one link.
struct HostFeed {
    private let client: ClientID
    private let link: [UInt8]
    private var now: Instant
    private var outputs: [Host.Output] = []
    private var sent = OutgoingPackets()
    /// What gives buffers of the link back, but for their number.
    private var completed: [UInt8]
    /// What the host says while this is set.
    var kept: (outputs: [Host.Output], packets: [UInt8])?

    /// Creates a feed.
    ///
    /// - Parameters:
    ///   - client: Who asks.
    ///   - packet: Any data packet of the link.
    ///   - now: When it begins.
    init(client: ClientID, link packet: [UInt8], now: Instant) {
        self.client = client
        link = [packet[1], packet[2] & 0x0F]
        completed = [0x04, 0x13, 0x05, 0x01] + link + [0, 0]
        self.now = now
    }

    /// A data packet as the controller hands it over, with a PDU of ATT in it.
    func packet(_ pdu: [UInt8]) -> [UInt8] {
        let frame = UInt16(pdu.count).littleEndianOctets + [0x04, 0x00] + pdu
        return [0x02, link[0], link[1] | 0x20] + UInt16(frame.count).littleEndianOctets + frame
    }

    /// A data packet as the host sends it, with a PDU of ATT in it.
    func sentPacket(_ pdu: [UInt8]) -> [UInt8] {
        var packet = packet(pdu)
        packet[2] = link[1]
        return packet
    }

    /// Makes a request as often, gives no buffer back, and lets nobody hear what came of it.
    mutating func leave(_ request: ClientRequest, _ count: Int, with host: inout Host) {
        for _ in 0..<count { host.perform(request, for: client, at: now) }
        _ = takeAll(from: &host)
    }

    /// Hands over a packet several times, and says how many events came of it.
    mutating func hear(_ packet: [UInt8], _ count: Int, by host: inout Host) -> Int {
        now = now.later(byNanoseconds: 50_000)
        for _ in 0..<count { host.receive(packet.span, at: now) }
        return takeAll(from: &host).others
    }

    /// Hands over a request, answers it as the app does, and says how many responses came of it.
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

    /// Answers as the app does; events are looked at where they lie.
    private func answer(to host: inout Host, value: [UInt8]) {
        let said = outputs.span
        for index in said.indices {
            guard let asked = said[index].asked else { continue }
            let answer = asked.isRead ? value : []
            host.perform(.service(.respond(asked.transaction, .success(answer))), for: client, at: now)
        }
    }

    /// Makes a request several times behind what waits already, gives as many buffers back, and says how many packets
    /// came of it.
    mutating func sayBehind(_ request: ClientRequest, _ count: Int, to host: inout Host) -> Int {
        now = now.later(byNanoseconds: 50_000)
        for _ in 0..<count { host.perform(request, for: client, at: now) }
        let packets = takeAll(from: &host).packets
        return packets + giveBack(count, to: &host)
    }

    /// Makes a request several times, and says how many packets came of it.
    mutating func say(_ request: ClientRequest, _ count: Int, to host: inout Host) -> Int {
        now = now.later(byNanoseconds: 50_000)
        for _ in 0..<count { host.perform(request, for: client, at: now) }
        let packets = takeAll(from: &host).packets
        giveBack(packets, to: &host)
        return packets
    }

    /// Makes a request, hands over the answer, and says how many events came of it.
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

    /// Gives buffers back, as the controller does when packets have been acknowledged; says how many packets came of
    /// that.
    @discardableResult
    private mutating func giveBack(_ count: Int, to host: inout Host) -> Int {
        guard count > 0 else { return 0 }
        completed[6] = UInt8(truncatingIfNeeded: count)
        host.receive(completed.span, at: now)
        return takeAll(from: &host).packets
    }
}

extension Host.Output {
    /// What a peer waits for, and whether that is a value.
    fileprivate var asked: (transaction: ServerTransaction, isRead: Bool)? {
        switch self {
        case .event(.server(.readRequested(let transaction, _, _, _)), _): (transaction, true)
        case .event(.server(.writeRequested(let transaction?, _, _)), _): (transaction, false)
        case .packet, .event, .remember, .recall, .resetTransport, .note: nil
        }
    }
}
