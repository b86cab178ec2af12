import BLEHost
import BLERuntime
import BLEWire
import Glibc

/// A transport that first connects the host to a virtual controller with a peer, and later replays the peer's packets.
///
/// After ``closeToAir()``, it answers requests with the responses that the peer has sent before, and returns buffers
/// immediately. Commands still go to the virtual controller. Sendable because everything is used on the loop's thread.
final class FeedTransport: Transport, @unchecked Sendable {
    private let role: ClientRole
    private var peer: RadioPeer?
    private weak var client: (any TransportClient)?
    private var loop: EventLoop?
    private var framer = H4Framer(from: .host)
    private var alarm: LoopAlarm?
    /// The ends of a pipe, through which packets arrive in the same way as from a socket.
    private let readEnd: FileDescriptor, writeEnd: FileDescriptor
    private var watch: LoopWatch?
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    private var isClosed = false
    /// The time of the last packet in either direction.
    private var lastTraffic = Instant()
    /// The longest data packet that the peer has sent with each ATT opcode.
    ///
    /// Unlike shorter packets, it contains the value that the workloads use.
    private var heard = [[UInt8]](repeating: [], count: 256)

    /// Creates a transport whose peer has the role `role`.
    init(peer role: ClientRole) {
        self.role = role
        var ends: [Int32] = [-1, -1]
        precondition(pipe(&ends) == 0, "a pipe needs free file descriptors")
        (readEnd, writeEnd) = (FileDescriptor(ends[0]), FileDescriptor(ends[1]))
    }

    var name: String { "benchmark" }

    func start(for client: any TransportClient, on loop: EventLoop) {
        self.client = client
        self.loop = loop
        peer = RadioPeer(role, at: loop.clock.now)
        watch = loop.watch(readEnd, for: .reading) { _ in self.takeArrived() }
        client.transportOpened()
        ring()
    }

    func send(_ packets: Span<UInt8>) {
        if !isClosed, let loop { lastTraffic = loop.clock.now }
        var answer: [UInt8] = []
        try? framer.receive(packets) { packet in
            if isClosed, packet[0] == 0x02 {
                reply(to: packet, in: &answer)
            } else if let loop {
                for octets in peer?.receive(packet, at: loop.clock.now) ?? [] { keep(octets, in: &answer) }
            }
        }
        if !answer.isEmpty { feed(answer) }
    }

    func pause() {}
    func resume() {}
    func reset() {}

    func stop() {
        alarm?.cancel()
        watch?.cancel()
    }

    /// The time without a packet after which the hosts have finished their own procedures.
    ///
    /// It is longer than the second after which a host asks for a longer connection interval. A procedure that begins
    /// after the peer has been silenced gets no response. On a slow computer, it would time out during the measurement,
    /// and end the workload.
    private static let quiet = Duration.seconds(2)

    /// Waits until the two hosts have finished their own procedures, and then silences the peer.
    func closeToAir() {
        while let loop, !loop.sync({ self.closeIfQuiet(at: loop.clock.now) }) { usleep(50_000) }
    }

    private func closeIfQuiet(at now: Instant) -> Bool {
        isClosed = lastTraffic + Self.quiet < now
        if isClosed { alarm?.cancel() }
        return isClosed
    }

    /// Returns `count` copies of the longest packet that the peer has sent with this ATT opcode.
    func packets(_ opcode: UInt8, _ count: Int) -> [UInt8] {
        loop?.sync { Array([[UInt8]](repeating: self.heard[Int(opcode)], count: count).joined()) } ?? []
    }

    /// Lets packets arrive.
    ///
    /// Can be called from any thread.
    func feed(_ packets: [UInt8]) {
        let count = write(writeEnd.raw, packets, packets.count)
        precondition(count == packets.count, "the pipe must have room for all packets in flight")
    }

    private func takeArrived() {
        var packets: [UInt8] = []
        swap(&packets, &buffer)
        let count = read(readEnd.raw, &packets, packets.count)
        if count > 0 { try? client?.transportReceived(packets.span.extracting(0..<count)) }
        swap(&packets, &buffer)
    }

    private func bring(_ packets: [UInt8]) { try? client?.transportReceived(packets.span) }

    private func ring() {
        guard let loop, !isClosed else { return }
        var answer: [UInt8] = []
        for octets in peer?.wake(at: loop.clock.now) ?? [] { keep(octets, in: &answer) }
        if !answer.isEmpty { bring(answer) }
        let next = loop.clock.now + .milliseconds(10)
        alarm = loop.alarm(at: min(peer?.deadline ?? next, next)) { [weak self] in self?.ring() }
    }

    private func keep(_ packet: [UInt8], in chunk: inout [UInt8]) {
        if packet[0] == 0x02, packet.count > 9, packet.count > heard[Int(packet[9])].count {
            heard[Int(packet[9])] = packet
        }
        chunk += packet
    }

    /// Appends the event that returns the packet's buffer and, if the packet is a Read or Write Request, the response.
    private func reply(to packet: Span<UInt8>, in answer: inout [UInt8]) {
        guard packet.count > 9 else { return }
        answer += [0x04, 0x13, 0x05, 0x01, packet[1], packet[2] & 0x0F, 0x01, 0x00]
        switch packet[9] {
        case 0x0A: answer += heard[0x0B]
        case 0x12: answer += heard[0x13]
        default: break
        }
    }
}
