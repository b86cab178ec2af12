import BLEHost
import BLERuntime
import BLESession
import BLESimulation
import BLEWire
import CoreBluetooth
import Testing

@Suite("Requests that Core Bluetooth never makes")
struct RequestTests {
    /// Draws requests, of which many are about what is there.
    private struct Source {
        var random: SeededGenerator
        var peers: [PeerIdentifier] = []
        var channels: [ChannelID] = []
        var transactions: [ServerTransaction] = []

        mutating func note(_ event: ClientEvent) {
            switch event {
            case .discovered(let report): add(report.peer)
            case .connected(let peer, _): add(peer)
            case .peer(_, .channelOpened(_, .success(let channel)), _): channels.append(channel.id)
            case .server(.channelOpened(let channel, _)): channels.append(channel.id)
            case .server(.readRequested(let transaction, let central, _, _)):
                transactions.append(transaction)
                add(central.peer)
            case .server(.writeRequested(let transaction?, _, _)): transactions.append(transaction)
            default: break
            }
        }

        private mutating func add(_ peer: PeerIdentifier) { if !peers.contains(peer) { peers.append(peer) } }

        mutating func next() -> ClientRequest {
            var generator = PacketGenerator(random: SeededGenerator(seed: random.next()), payloadLimit: 40)
            let request: ClientRequest = generator.next()
            let peer = peers.randomElement(using: &random) ?? PeerIdentifier(rawValue: 1)
            switch request {
            case .connect(_, var how):
                how.startDelay = .zero
                return .connect(peer, how)
            case .cancelConnection:
                return Int.random(in: 0..<8, using: &random) == 0 ? .cancelConnection(peer) : .stopScan
            case .peer(_, let what, _): return .peer(peer, what.about(.random(in: 0...30, using: &random)))
            case .channel(_, let what):
                return .channel(channels.randomElement(using: &random) ?? ChannelID(rawValue: 1), what)
            case .service(.respond(_, let response)):
                return .service(.respond(transactions.popLast() ?? ServerTransaction(rawValue: 1), response))
            default: return request
            }
        }
    }

    @Test("Any request from any session leaves the host unharmed", arguments: 0..<16 as Range<UInt64>)
    func anything(seed: UInt64) async throws {
        let world = World(seed: seed)
        for peripheral in Scenario.demo.peripherals { world.place(peripheral) }
        let machines = [world.machine("one"), world.machine("two", at: .init(x: 1))]
        let queue = DispatchQueue(label: "apps")
        let heard = Locked<[ClientEvent]>([])
        var sessions: [any HostSession] = []
        for machine in machines {
            for role in [ClientRole.central, .peripheral, .agent] {
                let session = machine.open(role, on: queue) { event in heard.withLock { $0.append(event) } }
                sessions.append(session)
            }
        }
        await world.advance(by: .seconds(1))
        for session in sessions { session.send(.scan(ScanRequest(allowsDuplicates: true))) }
        await world.advance(by: .seconds(1))
        var source = Source(random: SeededGenerator(seed: seed &+ 100))
        for _ in 0..<150 {
            let news = heard.withLock { heard in
                defer { heard = [] }
                return heard
            }
            for event in news { source.note(event) }
            for _ in 0..<6 { sessions.randomElement(using: &source.random)?.send(source.next()) }
            await world.advance(by: .milliseconds(40))
        }
        let last = Locked<[ClientEvent]>([])
        let witness = machines[0].open(.central, on: queue) { event in last.withLock { $0.append(event) } }
        await world.advance(by: .seconds(1))
        #expect(last.withLock { $0.contains(.stateChanged(.poweredOn)) })
        witness.close()
        for session in sessions { session.close() }
        await world.advance(by: .seconds(1))
    }
}

extension PeerRequest {
    /// The request about an attribute that may be there.
    fileprivate func about(_ number: UInt16) -> Self {
        let handle = AttributeHandle(wire: number)
        return switch self {
        case .attribute(.read): .read(handle)
        case .attribute(.readWithoutPairing): .attribute(.readWithoutPairing(handle))
        case .attribute(.write(_, let value)): .write(handle, value)
        case .attribute(.writePart(_, let part, let offset)): .attribute(.writePart(handle, part, offset: offset))
        case .attribute(.writeCommand(_, let value)): .writeCommand(handle, value)
        case .attribute(.subscribe(let subscription, _, let range)):
            .subscribe(subscription, to: handle, in: range)
        case .openChannel: .openChannel(SPSM(wire: 0x80 + number % 4))
        default: self
        }
    }
}
