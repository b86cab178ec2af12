import BLEHost
import BLESession
import BLEWire
import Testing

@Suite("Protocol between an app and the daemon")
struct ConversationTests {
    static let peer = PeerIdentifier(rawValue: 5)
    private static let handle = AttributeHandle(wire: 3)

    /// Both ends with a session, but for what `prepare` changes before.
    func pair(_ prepare: (inout AppConversation) -> Void = { _ in }) -> (AppConversation, DaemonConversation) {
        var app = AppConversation(.central, restoring: nil, radio: ""), daemon = DaemonConversation()
        prepare(&app)
        app.connected()
        carry(&app, &daemon)
        #expect(daemon.takeAction() == .open(Hello(.central)))
        daemon.welcome()
        carry(&app, &daemon)
        #expect(app.isOpen)
        return (app, daemon)
    }

    /// Carries what both have to say to the other.
    private func carry(_ app: inout AppConversation, _ daemon: inout DaemonConversation) {
        var octets: [UInt8] = []
        app.takeOctets { octets = [UInt8](copying: $0) }
        daemon.receive(octets.span)
        octets = []
        daemon.takeOctets { octets = [UInt8](copying: $0) }
        try? app.receive(octets.span)
    }

    private func heard(by app: inout AppConversation) -> [ClientEvent] {
        var events: [ClientEvent] = []
        app.takeEvents(into: &events)
        return events
    }

    func asked(of daemon: inout DaemonConversation) -> [ClientRequest] {
        var requests: [ClientRequest] = []
        while case .request(_, let request)? = daemon.takeAction() { requests.append(request) }
        return requests
    }

    func send(_ messages: [AppMessage], to daemon: inout DaemonConversation) {
        var writer = FrameWriter()
        for message in messages { _ = writer.write(message) }
        writer.take { daemon.receive($0) }
    }

    func answers(of daemon: inout DaemonConversation) throws -> [DaemonMessage] {
        var reader = FrameReader(), messages: [DaemonMessage] = [], octets: [UInt8] = []
        daemon.takeOctets { octets = [UInt8](copying: $0) }
        try reader.receive(octets.span) { octets in
            if let message = try? DaemonMessage(reading: octets) { messages.append(message) }
        }
        return messages
    }

    @Test("Requests and events arrive in order")
    func order() {
        var (app, daemon) = pair()
        let requests: [ClientRequest] = [
            .scan(ScanRequest()), .connect(Self.peer, ConnectRequest()), .connect(Self.peer, ConnectRequest().renewal),
            .stopScan,
        ]
        for request in requests { app.perform(request) }
        carry(&app, &daemon)
        #expect(asked(of: &daemon) == requests)
        let events: [ClientEvent] = [
            .stateChanged(.poweredOn), .connected(Self.peer, LinkParameters(mtu: 23)),
            .peer(Self.peer, .valueNotified(Self.handle, [1, 2])),
        ]
        for event in events { daemon.send(event, backlog: 0) }
        carry(&app, &daemon)
        #expect(heard(by: &app) == events)
    }

    @Test("Requests made before there is a daemon are sent as soon as there is one")
    func early() {
        var (app, daemon) = pair { app in
            app.perform(.security(.listBonds))
            app.perform(.appPhaseChanged(to: .background))
        }
        carry(&app, &daemon)
        #expect(asked(of: &daemon) == [.appPhaseChanged(to: .background), .security(.listBonds)])
    }

    @Test(
        "An app sends no more requests than the window until the daemon has taken some",
        arguments: [ClientRequest.stopScan, .peer(peer, .attribute(.writeCommand(AttributeHandle(wire: 3), [1])))]
    )
    func window(request: ClientRequest) {
        var (app, daemon) = pair()
        let count = Int(DaemonConversation.window) + 40
        for _ in 0..<count { app.perform(request) }
        carry(&app, &daemon)
        #expect(asked(of: &daemon).count == Int(DaemonConversation.window))
        carry(&app, &daemon)
        carry(&app, &daemon)
        #expect(asked(of: &daemon).count == 40)
        let isOver = daemon.isOver
        #expect(!isOver)
    }

    @Test("A lost connection looks like a host reset, and lasting settings are sent again on the next connection")
    func loss() {
        var (app, daemon) = pair()
        app.perform(.security(.setAgent(.keyboardDisplay)))
        app.perform(.appPhaseChanged(to: .background))
        app.perform(.showAlerts)
        app.perform(.scan(ScanRequest()))
        carry(&app, &daemon)
        app.lost()
        #expect(heard(by: &app) == [.stateChanged(.resetting)])
        app.perform(.scan(ScanRequest()))
        var second = DaemonConversation()
        app.connected()
        carry(&app, &second)
        #expect(second.takeAction() == .open(Hello(.central, isContinued: true)))
        second.welcome()
        carry(&app, &second)
        carry(&app, &second)
        let standing: [ClientRequest] = [
            .appPhaseChanged(to: .background), .security(.setAgent(.keyboardDisplay)), .showAlerts,
        ]
        #expect(asked(of: &second) == standing)
    }

    @Test("The reason for a refused request is reported once, as text")
    func refusedRequest() {
        var (app, daemon) = pair {
            $0.perform(.security(.setPolicy(PairingPolicy(keepsBonds: false), everywhere: true)))
        }
        carry(&app, &daemon)
        guard case .request(let number, let request)? = daemon.takeAction() else {
            Issue.record("nothing is asked")
            return
        }
        #expect(request == .security(.setPolicy(PairingPolicy(keepsBonds: false), everywhere: true)))
        daemon.refuse(number, Refusal(.notAllowed, "no"))
        carry(&app, &daemon)
        #expect(app.takeRefusedRequest() == Refusal(.notAllowed, "no"))
        #expect(app.takeRefusedRequest() == nil)
    }

    static let refusals: [(ClientRequest, ClientEvent?)] = [
        (.connect(peer, ConnectRequest()), .connectFailed(peer, .notSupported)),
        (.connect(peer, ConnectRequest().renewal), nil),
        (
            .peer(peer, .read(handle), RequestNumber(rawValue: 5)),
            .peer(peer, .valueRead(handle, .failure(.notSupported)), answering: RequestNumber(rawValue: 5))
        ),
        (
            .peer(peer, .attribute(.readWithoutPairing(handle))),
            .peer(peer, .valueRead(handle, .failure(.notSupported)))
        ),
        (.peer(peer, .write(handle, [1])), .peer(peer, .valueWritten(handle, .notSupported))),
        (
            .peer(peer, .attribute(.writePart(handle, [1], offset: 2))),
            .peer(peer, .valueWritten(handle, .notSupported))
        ),
        (.peer(peer, .writeCommand(handle, [1])), .peer(peer, .writeCommandsTaken(1))),
        (.peer(peer, .readRSSI), .peer(peer, .rssiRead(.failure(.notSupported)))),
        (.server(.startAdvertising(AdvertisingRequest())), .server(.advertisingStarted(.notSupported))),
        (.service(.update(LocalAttributeID(rawValue: 1), [1], to: nil)), .server(.updatesTaken(1))),
        (.stopScan, nil),
    ]

    @Test("A request that the daemon does not know fails as not supported", arguments: refusals)
    func refusal(request: ClientRequest, answer: ClientEvent?) {
        var (app, daemon) = pair()
        app.perform(.stopScan)
        app.perform(request)
        carry(&app, &daemon)
        _ = asked(of: &daemon)
        daemon.refuse(2, Refusal(.unknown, "it is not known"))
        carry(&app, &daemon)
        #expect(heard(by: &app) == (answer.map { [$0] } ?? []))
    }

    @Test(
        "A rejected app sees the state unauthorized or unsupported",
        arguments: [
            (Refusal.Reason.notAllowed, HostState.unauthorized), (.noRadio, .unsupported), (.version, .unsupported),
            (.tooMany, .unsupported), (Refusal.Reason(wire: 200), .unsupported),
        ]
    )
    func turnedAway(reason: Refusal.Reason, state: HostState) {
        var app = AppConversation(.central, restoring: "app", radio: "hci:9"), daemon = DaemonConversation()
        app.connected()
        carry(&app, &daemon)
        #expect(daemon.takeAction() == .open(Hello(.central, restoring: "app", radio: "hci:9")))
        daemon.refuse(Refusal(reason, "because"))
        carry(&app, &daemon)
        #expect(heard(by: &app) == [.stateChanged(state)])
        #expect(app.refusal == Refusal(reason, "because"))
        let isOver = daemon.isOver
        #expect(isOver && !app.isOpen)
    }

    static let offences: [(what: String, messages: [AppMessage], reason: Refusal.Reason)] = [
        ("a request first", [.request(1, .stopScan)], .malformed),
        ("an end first", [.close], .malformed),
        ("two greetings", [.hello(Hello()), .hello(Hello())], .malformed),
        ("no version in common", [.hello(newer)], .version),
    ]

    private static var newer: Hello {
        var hello = Hello()
        hello.versions = Versions(oldest: Versions.own.newest + 1, newest: 9)
        return hello
    }

    @Test("A message that is not allowed at that point ends the session", arguments: offences)
    func offence(what: String, messages: [AppMessage], reason: Refusal.Reason) throws {
        var daemon = DaemonConversation()
        send(messages, to: &daemon)
        let answers = try answers(of: &daemon)
        guard case .refused(let refusal)? = answers.last else {
            Issue.record("\(what): \(answers)")
            return
        }
        #expect(refusal.reason == reason)
        let isOver = daemon.isOver, action = daemon.takeAction()
        #expect(isOver && action == nil)
    }

    @Test("An endless greeting is buffered only up to the limit", arguments: [0, 1])
    func endless(excess: Int) {
        var daemon = DaemonConversation()
        let length = DaemonConversation.mostOfGreeting - 4 + excess
        daemon.receive(([0, 0, 0x10, 0] + [UInt8](repeating: 1, count: length)).span)
        let isOver = daemon.isOver
        #expect(isOver == (excess > 0))
        var (_, greeted) = pair()
        greeted.receive(([0, 0, 0x10, 0] + [UInt8](repeating: 1, count: length)).span)
        let isGreetedOver = greeted.isOver
        #expect(!isGreetedOver)
    }

    @Test("A skipped request number or more requests than the window end the session")
    func numbers() throws {
        var (_, daemon) = pair()
        send([.request(1, .stopScan), .request(3, .stopScan)], to: &daemon)
        #expect(
            try answers(of: &daemon).last == .refused(Refusal(.malformed, "request 3 follows request 1, but must be 2"))
        )
        (_, daemon) = pair()
        send((1...DaemonConversation.window + 1).map { .request($0, .stopScan) }, to: &daemon)
        let sentence = "more than 256 requests are pending"
        #expect(try answers(of: &daemon).last == .refused(Refusal(.congested, sentence)))
    }

    @Test("A request of a newer version is refused with its request number, in order", arguments: [false, true])
    func newerRequest(isEarly: Bool) throws {
        var daemon = DaemonConversation()
        send([.hello(Hello())], to: &daemon)
        if !isEarly { welcome(&daemon) }
        var octets = AppMessage.request(1, .stopScan).encoded
        octets[5] = 250
        daemon.receive(([UInt8(octets.count), 0, 0, 0] + octets).span)
        send([.request(2, .stopScan)], to: &daemon)
        if isEarly { welcome(&daemon) }
        guard case .refuse(1, let refusal)? = daemon.takeAction() else {
            Issue.record("the request was not refused")
            return
        }
        #expect(refusal.reason == .unknown)
        daemon.refuse(1, refusal)
        #expect(asked(of: &daemon) == [.stopScan])
        #expect(try answers(of: &daemon).suffix(2) == [.requestRefused(1, refusal), .taken(2)])
    }

    private func welcome(_ daemon: inout DaemonConversation) {
        #expect(daemon.takeAction() == .open(Hello()))
        daemon.welcome()
    }

    private static let report = AdvertisementReport(
        peer: peer,
        address: .none,
        isConnectable: true,
        rssi: .unavailable,
        octets: AdvertisementOctets(advertisement: [1, 2, 3])
    )

    @Test("An app learns how many reports the daemon has dropped, on all of its connections")
    func droppedByDaemon() {
        var (app, daemon) = pair()
        for connection in 1...2 {
            daemon.send(.discovered(Self.report), backlog: DaemonConversation.advertisementBacklog + 1)
            daemon.send(.discovered(Self.report), backlog: 0)
            carry(&app, &daemon)
            #expect(app.droppedByDaemon == UInt64(connection))
            app.lost()
            daemon = DaemonConversation()
            app.connected()
            carry(&app, &daemon)
            _ = daemon.takeAction()
            daemon.welcome()
            carry(&app, &daemon)
        }
    }

    @Test("The daemon learns of an app's own losses at the beginning of a burst, in steps, and at the end")
    func droppedByApp() {
        var (app, daemon) = pair(), losses = DroppedReports(), known: [UInt64] = [], bursts = 0
        func report() {
            app.report(losses)
            carry(&app, &daemon)
            if known.last ?? 0 != daemon.droppedReports { known.append(daemon.droppedReports) }
            if daemon.takeLoss() { bursts += 1 }
        }
        for _ in 0..<2 {
            for _ in 0..<300 {
                _ = losses.add(1)
                report()
            }
            for _ in 0..<2 {
                losses.caughtUp()
                report()
            }
        }
        #expect(known == [1, 257, 300, 301, 557, 600])
        #expect(bursts == 2)
    }

    @Test("An older daemon is not informed of losses, because it would not understand the message")
    func olderDaemon() throws {
        var app = AppConversation(.central, restoring: nil, radio: ""), losses = DroppedReports()
        app.connected()
        app.takeOctets { _ in }
        var writer = FrameWriter()
        let isWritten = writer.write(DaemonMessage.welcome(Welcome(version: 3, window: 8)))
        #expect(isWritten)
        var octets: [UInt8] = []
        writer.take { octets = [UInt8](copying: $0) }
        try app.receive(octets.span)
        #expect(app.isOpen)
        _ = losses.add(1)
        app.report(losses)
        var isSilent = true
        app.takeOctets { _ in isSilent = false }
        #expect(isSilent)
    }

    @Test("A slow reader first misses advertisements, and is rejected when too much is waiting")
    func slow() throws {
        var (_, daemon) = pair()
        let report = Self.report
        daemon.send(.discovered(report), backlog: 0)
        daemon.send(.discovered(report), backlog: DaemonConversation.advertisementBacklog + 1)
        daemon.send(.peer(Self.peer, .mtuChanged(50)), backlog: DaemonConversation.advertisementBacklog + 1)
        #expect(daemon.droppedReports == 1)
        let hasNewLoss = daemon.takeLoss(), isRepeated = daemon.takeLoss()
        #expect(hasNewLoss && !isRepeated)
        #expect(try answers(of: &daemon) == [.event(.discovered(report)), .event(.peer(Self.peer, .mtuChanged(50)))])
        daemon.send(.peer(Self.peer, .mtuChanged(55)), backlog: 0)
        #expect(try answers(of: &daemon) == [.reportsDropped(1), .event(.peer(Self.peer, .mtuChanged(55)))])
        daemon.send(.peer(Self.peer, .mtuChanged(60)), backlog: DaemonConversation.mostBacklog + 1)
        let isOver = daemon.isOver
        #expect(isOver)
        let told = try answers(of: &daemon)
        guard case .refused(let refusal)? = told.first, told.count == 1 else {
            Issue.record("\(told) is told")
            return
        }
        #expect(refusal.reason == .congested)
    }

    @Test("No input crashes the daemon's end", arguments: 0..<16 as Range<UInt64>)
    func garbage(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            var (_, daemon) = pair()
            var generator = PacketGenerator(random: SeededGenerator(seed: random.next()), payloadLimit: 12)
            for number in 1...20 as ClosedRange<UInt32> {
                let request: ClientRequest = generator.next()
                var octets = AppMessage.request(number, request).encoded
                if Bool.random(using: &random) { octets[Int.random(in: octets.indices, using: &random)] ^= 0x55 }
                daemon.receive(([UInt8(octets.count & 0xFF), UInt8(octets.count >> 8), 0, 0] + octets).span)
                _ = asked(of: &daemon)
            }
            daemon.takeOctets { _ in }
        }
    }
}
