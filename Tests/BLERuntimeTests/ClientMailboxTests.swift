import BLEHost
import BLEWire
import Dispatch
import Synchronization
import Testing

@testable import BLERuntime

@Suite("Client mailbox")
struct ClientMailboxTests {
    /// A client whose queue does nothing before it is let go.
    final class Client: Sendable {
        let queue = DispatchQueue(label: "test.app", attributes: .initiallyInactive)
        let heard = Locked<[ClientEvent]>([])
        let caughtUp = Locked(0)
        /// The number of bursts of lost reports so far.
        let bursts = Locked(0)

        func mailbox() -> ClientMailbox {
            let receiver = EventReceiver.each(on: queue) { [weak self] event in
                self?.heard.withLock { $0.append(event) }
            }
            return ClientMailbox(client: ClientID(rawValue: 1), receiver: receiver) { [weak self] in
                self?.bursts.withLock { $0 += 1 }
            } caughtUp: { [weak self] in
                self?.caughtUp.withLock { $0 += 1 }
            }
        }

        /// Lets the queue go and returns what the client has heard when it is empty.
        func hear() async -> [ClientEvent] {
            queue.activate()
            await drain()
            return heard.withLock { $0 }
        }

        /// Returns when the queue, which was let go, is empty.
        func drain() async { await withCheckedContinuation { done in queue.async { done.resume() } } }
    }

    @discardableResult
    static func post(_ events: [ClientEvent], to mailbox: ClientMailbox) -> Int {
        var events = events
        let count = mailbox.post(&events)
        #expect(events == [])
        return count
    }

    static func advertisement(_ number: Int) -> ClientEvent {
        .discovered(
            AdvertisementReport(
                peer: PeerIdentifier(rawValue: UInt128(number)),
                address: .none,
                isConnectable: true,
                rssi: RSSI(dBm: -40),
                octets: AdvertisementOctets(advertisement: [])
            )
        )
    }

    static func value(_ number: Int) -> ClientEvent {
        .peer(PeerIdentifier(rawValue: 1), .valueNotified(AttributeHandle(wire: UInt16(number)), []))
    }

    /// The host took a value that was for this peer.
    static func room(_ peer: UInt128) -> ClientEvent { .peer(PeerIdentifier(rawValue: peer), .writeCommandsTaken(1)) }

    @Test("Events arrive once, in the order in which they were posted")
    func ordered() async {
        let client = Client(), mailbox = client.mailbox()
        let events = (0..<100).map(Self.value)
        Self.post(Array(events[..<30]), to: mailbox)
        Self.post(Array(events[30...]), to: mailbox)
        #expect(await client.hear() == events)
        #expect(client.caughtUp.withLock { $0 } == 0)
    }

    @Test("A client's first request after an event counts as a response, unless the event only reported free space")
    func answers() async {
        let client = Client(), mailbox = client.mailbox()
        #expect(!mailbox.noteRequest())
        Self.post([Self.room(1)], to: mailbox)
        _ = await client.hear()
        #expect(!mailbox.noteRequest())
        Self.post([Self.room(1), Self.value(1)], to: mailbox)
        _ = await client.hear()
        #expect(mailbox.noteRequest())
        #expect(!mailbox.noteRequest())
    }

    @Test("Packets sent in one turn are reported as one count per kind and peer, in order among other events")
    func receipts() async {
        let client = Client(), mailbox = client.mailbox()
        var posts = PendingEvents()
        posts.open(mailbox)
        let updates = ClientEvent.server(.updatesTaken(1))
        for event in [Self.room(1), Self.room(1), Self.room(2), updates, updates, Self.value(1), updates] {
            posts.add(event, for: mailbox.client)
        }
        Self.post(posts.clients[0].events, to: mailbox)
        let first = PeerIdentifier(rawValue: 1)
        #expect(
            await client.hear() == [
                .peer(first, .writeCommandsTaken(2)), Self.room(2), .server(.updatesTaken(2)), Self.value(1), updates,
            ]
        )
    }

    @Test("A slow client misses only the oldest advertisements")
    func dropsAdvertisements() async {
        let client = Client(), mailbox = client.mailbox()
        let limit = ClientMailbox.limit
        Self.post([Self.value(1)], to: mailbox)
        for number in 0..<limit { Self.post([Self.advertisement(number)], to: mailbox) }
        Self.post([Self.value(2), Self.value(3)], to: mailbox)
        let kept = (3..<limit).map(Self.advertisement)
        #expect(await client.hear() == [Self.value(1)] + kept + [Self.value(2), Self.value(3)])
        #expect(mailbox.droppedReports == 3)
        mailbox.droppedByDaemon.store(4, ordering: .relaxed)
        #expect(mailbox.droppedReports == 7)
    }

    @Test(
        "A burst of lost reports is reported once, until the client has twice caught up without a loss",
        .timeLimit(.minutes(30))
    )
    func bursts() async {
        let client = Client(), mailbox = client.mailbox(), limit = ClientMailbox.limit
        let crowd = (0..<(limit + 10)).map(Self.advertisement)
        Self.post(crowd, to: mailbox)
        Self.post(crowd, to: mailbox)
        #expect(client.bursts.withLock { $0 } == 1)
        #expect(mailbox.latestLosses.total == UInt64(limit + 20) && mailbox.latestLosses.isLosing)
        _ = await client.hear()
        Self.post(crowd, to: mailbox)
        #expect(client.bursts.withLock { $0 } == 1)
        while mailbox.latestLosses.isLosing {
            await client.drain()
            Self.post([Self.value(1)], to: mailbox)
        }
        Self.post(crowd, to: mailbox)
        #expect(client.bursts.withLock { $0 } == 2)
    }

    @Test("Values are never dropped, and the mailbox reports when the client has caught up")
    func keepsValues() async {
        let client = Client(), mailbox = client.mailbox()
        let events = (0..<(ClientMailbox.limit + 1)).map(Self.value)
        #expect(Self.post(events, to: mailbox) == events.count)
        #expect(await client.hear() == events)
        #expect(client.caughtUp.withLock { $0 } == 1)
    }

    @Test("A closed client receives nothing, not even waiting events")
    func closed() async {
        let client = Client(), mailbox = client.mailbox()
        Self.post([Self.value(1)], to: mailbox)
        mailbox.close()
        #expect(Self.post([Self.value(2)], to: mailbox) == 0)
        #expect(await client.hear() == [])
    }

    @Test("A released mailbox keeps nothing of its client alive, with or without waiting events", arguments: [0, 1])
    func gone(count: Int) async {
        final class App: Sendable {}
        let queue = DispatchQueue(label: "test.app")
        weak var app: App?
        do {
            let kept = App()
            app = kept
            let mailbox = ClientMailbox(client: ClientID(rawValue: 1), receiver: .all(on: queue) { _ in _ = kept }) {}
            if count > 0 { Self.post((0..<count).map(Self.value), to: mailbox) }
        }
        for _ in 0..<3 { await withCheckedContinuation { done in queue.async { done.resume() } } }
        #expect(app == nil)
    }

    @Test("A receiver called within a turn has all events when the turn ends, and none once the mailbox is closed")
    func inTurn() {
        let heard = Locked<[[ClientEvent]]>([])
        let mailbox = ClientMailbox(
            client: ClientID(rawValue: 1),
            receiver: .inTurn { events in
                var taken: [ClientEvent] = []
                swap(&taken, &events)
                heard.withLock { $0.append(taken) }
            }
        ) {}
        let values = (0..<3).map(Self.value)
        #expect(Self.post([values[0], values[1]], to: mailbox) == 0)
        #expect(heard.withLock { $0 } == [[values[0], values[1]]])
        #expect(mailbox.noteRequest())
        Self.post([Self.room(1)], to: mailbox)
        #expect(!mailbox.noteRequest())
        mailbox.close()
        Self.post([values[2]], to: mailbox)
        #expect(heard.withLock { $0 } == [[values[0], values[1]], [Self.room(1)]])
    }

    @Test(
        "An event that only reports free space needs no response",
        arguments: [
            (room(1), false), (.server(.updatesTaken(1)), false), (.channel(ChannelID(rawValue: 1), .sent(20)), false),
            (.channel(ChannelID(rawValue: 1), .received([1])), true), (value(1), true),
        ]
    )
    func receipts(event: ClientEvent, callsForAnswer: Bool) {
        let mailbox = ClientMailbox(client: ClientID(rawValue: 1), receiver: .inTurn { $0 = [] }) {}
        Self.post([event], to: mailbox)
        #expect(mailbox.noteRequest() == callsForAnswer)
    }

    @Test(
        "Up to 15 sent values are reported with the next event, and 16 immediately",
        arguments: [
            ([15], false), ([16], true), ([7, 8], false), ([7, 8, 1], true), (Array(repeating: 1, count: 15), false),
            (Array(repeating: 1, count: 16), true),
        ]
    )
    func gathered(receipts: [Int], wakes: Bool) async {
        let queue = DispatchQueue(label: "test.app"), heard = Locked<[[ClientEvent]]>([])
        let receiver = EventReceiver.all(on: queue) { events in heard.withLock { $0.append(events) } }
        let mailbox = ClientMailbox(client: ClientID(rawValue: 1), receiver: receiver) {}
        func catchUp() async {
            for _ in 0..<3 { await withCheckedContinuation { done in queue.async { done.resume() } } }
        }
        let told = receipts.map { ClientEvent.server(.updatesTaken($0)) }
        for event in told { Self.post([event], to: mailbox) }
        await catchUp()
        #expect(heard.withLock { !$0.isEmpty } == wakes)
        #expect(heard.withLock { $0.flatMap(\.self) } == (wakes ? told : []))
        Self.post([Self.value(1)], to: mailbox)
        await catchUp()
        #expect(heard.withLock { $0.flatMap(\.self) } == told + [Self.value(1)])
        // What was told does not count for what comes next.
        Self.post([.server(.updatesTaken(15))], to: mailbox)
        await catchUp()
        #expect(heard.withLock { $0.flatMap(\.self) } == told + [Self.value(1)])
    }
}
